/**
 * The built command line in its own process, as an operator runs it.
 */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Received from "./Received.ts"

export interface VitrineProcess {
  /** Waits until its log matches, and returns the first group of the match. */
  readonly logged: (pattern: RegExp) => Effect.Effect<string>
  /** The same of what it writes to standard output. */
  readonly shown: (pattern: RegExp) => Effect.Effect<string>
  readonly signal: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Waits for its end. */
  readonly ended: Effect.Effect<Ended>
}

export interface Ended {
  /** The exit status, or the signal that ended it. */
  readonly status: number | NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Options {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** On a terminal, which shows standard output and standard error alike: both are `stdout`. Default: no. */
  readonly onTerminal?: boolean
  /** The user that it runs as. Default: this one. */
  readonly uid?: number
  /** Default: the one that was built here. */
  readonly bin?: string
  /** What it is started by, which becomes it: `ip netns exec hall`, for example. */
  readonly by?: ReadonlyArray<string>
}

export const builtBin = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url))

/** Runs `vitrine …`; it is killed with the scope if it still runs then. */
export const runVitrine = (
  args: ReadonlyArray<string>,
  { bin = builtBin, by = [], cwd, env, onTerminal = false, uid }: Options
): Effect.Effect<VitrineProcess, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const command = [...by, process.execPath, bin, ...args]
      const [program = "", ...programArgs] = onTerminal
        ? ["script", "-qec", command.map((part) => `'${part}'`).join(" "), "/dev/null"]
        : command
      return spawn(program, programArgs, {
        cwd,
        env: { ...process.env, ...env },
        ...(uid === undefined ? {} : { uid, gid: uid }),
        stdio: ["ignore", "pipe", "pipe"]
      })
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(
    Effect.map((child) => {
      const stdout = Received.from(child.stdout)
      const stderr = Received.from(child.stderr)
      const end = new Promise<Ended>((resolve) => {
        child.once("close", (code, signal) => {
          resolve({ status: code ?? signal, stdout: stdout.text(), stderr: stderr.text() })
        })
      })
      const matching = (output: Received.Received) => (pattern: RegExp) =>
        Effect.map(
          output.until((text) => pattern.test(text)),
          (text) => pattern.exec(text)?.[1] ?? ""
        )
      return {
        logged: matching(stderr),
        shown: matching(stdout),
        signal: (signal) => Effect.sync(() => child.kill(signal)),
        ended: Effect.promise(() => end)
      }
    })
  )
