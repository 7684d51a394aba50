/**
 * A controller's socket in its own process (`holder.mjs`).
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { inject } from "vitest"
import * as Received from "./Received.ts"

export interface Holder {
  readonly pid: number | undefined
  /** Lets it begin, once it is ready to, and tells what comes of it: `serving`, or why not. */
  readonly go: Effect.Effect<string>
  /** Ends it on the spot, as a loss of power does, and waits for its end. */
  readonly kill: Effect.Effect<void>
  /** Waits for its end, and returns all that it said. */
  readonly ended: Effect.Effect<string>
}

const program = () => join(inject("bundles"), "holder.mjs")

/** The process, ready to begin. It is killed with the scope at the latest. */
export const startHolder = (folder: string): Effect.Effect<Holder, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [program(), folder], { stdio: ["pipe", "pipe", "inherit"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(
    Effect.flatMap((child) => {
      const said = Received.from(child.stdout)
      child.stdin.on("error", () => {})
      return Effect.as(
        said.until((text) => text.includes("ready\n")),
        {
          pid: child.pid,
          go: Effect.suspend(() => {
            child.stdin.write("go\n")
            return Effect.map(
              said.until((text) => outcome.test(text)),
              (text) => outcome.exec(text)?.[1] ?? ""
            )
          }),
          kill: Effect.suspend(() => {
            child.kill("SIGKILL")
            return Effect.asVoid(said.whole)
          }),
          ended: said.whole
        }
      )
    })
  )

const outcome = /^(serving|failed .*)$/m
