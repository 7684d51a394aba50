/**
 * Programs as an operator starts them, outside of the runner, observed by their logs.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** The arguments of Node. */
export type Program = ReadonlyArray<string>

export const bin = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url))

export interface Place {
  readonly directory: string
  readonly nodeArguments: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
}

export interface RunningProgram {
  readonly pid: number
  /** Waits for its end. */
  readonly ended: () => Promise<void>
  /** Waits until the log matches, and returns the first group of the match. */
  readonly logged: (pattern: RegExp) => Promise<string>
  readonly stop: () => Promise<void>
}

const running = new Set<ChildProcess>()

process.once("exit", () => {
  for (const child of running) {
    child.kill("SIGKILL")
  }
})

export const startProgram = (program: Program, { directory, env, nodeArguments }: Place): RunningProgram => {
  const child = spawn(process.execPath, [...nodeArguments, ...program], {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"]
  })
  running.add(child)
  let log = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text
  })
  const ended = once(child, "exit").finally(() => running.delete(child))
  return {
    pid: child.pid ?? 0,
    ended: async () => {
      const [status] = await ended
      if (status !== 0) {
        throw new Error(`${program.join(" ")} ended with ${status}: ${log}`)
      }
    },
    logged: async (pattern) => {
      for (;;) {
        const match = pattern.exec(log)
        if (match !== null) {
          return match[1] ?? ""
        }
        await Promise.race([once(child.stderr, "data"), ended])
        if (child.exitCode !== null) {
          throw new Error(`${program.join(" ")} ended early: ${log}`)
        }
      }
    },
    stop: async () => {
      child.kill("SIGTERM")
      await ended
    }
  }
}
