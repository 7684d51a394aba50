/**
 * Processes of one controller on NATS (`natsEdge.mjs`).
 */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Received from "./Received.ts"

const program = fileURLToPath(new URL("natsEdge.mjs", import.meta.url))

/** A process of that role, killed with the scope at the latest. */
export const startNatsEdge = (servers: string, role: "transport" | "publisher" | "command") =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [program, servers, role], { stdio: ["pipe", "pipe", "ignore"] })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(
    Effect.map((child) => {
      const said = Received.from(child.stdout)
      child.stdin.on("error", () => {})
      return {
        /** Waits until it says something that matches, and returns the first group of the match. */
        says: (pattern: RegExp) =>
          Effect.map(
            said.until((text) => pattern.test(text)),
            (text) => pattern.exec(text)?.[1] ?? ""
          ),
        /** Ends its standard input. */
        finish: Effect.sync(() => void child.stdin.end()),
        kill: Effect.suspend(() => {
          child.kill("SIGKILL")
          return Effect.asVoid(said.whole)
        })
      }
    })
  )
