/**
 * The processes of the benchmark: started here, asked here over Node's IPC channel, and ended here.
 */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** The calls to a process. */
export type Api<A> = { readonly [M in keyof A]: (argument: never) => unknown }

type Answer = { readonly result: unknown } | { readonly error: string }

export interface Process<A extends Api<A>> {
  /** One call at a time. */
  readonly call: <M extends keyof A & string>(
    method: M,
    ...argument: Parameters<A[M]>
  ) => Promise<Awaited<ReturnType<A[M]>>>
  readonly stop: () => Promise<void>
}

const running = new Set<ChildProcess>()

/** Starts a module of this folder that calls `answer`. */
export const start = <A extends Api<A>>(module: string, nodeArguments: ReadonlyArray<string>): Process<A> => {
  const child = fork(fileURLToPath(new URL(module, import.meta.url)), {
    execArgv: [...nodeArguments],
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  running.add(child)
  child.once("exit", () => running.delete(child))

  return {
    call: (method, argument) =>
      new Promise((resolve, reject) => {
        const onExit = () => reject(new Error(`${module} ended during "${method}"`))
        child.once("exit", onExit)
        child.once("message", (answer: Answer) => {
          child.off("exit", onExit)
          if ("error" in answer) {
            reject(new Error(`${module} failed at "${method}": ${answer.error}`))
          } else {
            resolve(answer.result as never)
          }
        })
        child.send({ method, argument })
      }),
    stop: async () => {
      const ended = once(child, "exit")
      const timer = setTimeout(() => child.kill("SIGKILL"), 3000)
      child.disconnect()
      await ended
      clearTimeout(timer)
    }
  }
}

/** Starts a program from elsewhere, which `stop` kills. */
export const startProgram = (program: string, args: ReadonlyArray<string>) => {
  const child = spawn(program, [...args], { stdio: ["ignore", "ignore", "pipe"] })
  running.add(child)
  child.once("exit", () => running.delete(child))
  return {
    pid: child.pid ?? 0,
    /** Waits until it writes that to standard error. */
    says: (text: string) =>
      new Promise<void>((resolve, reject) => {
        let log = ""
        child.once("error", reject)
        child.once("exit", () => reject(new Error(`${program} has ended: ${log}`)))
        child.stderr.on("data", (bytes) => {
          log += String(bytes)
          if (log.includes(text)) {
            resolve()
          }
        })
      }),
    stop: async () => {
      const ended = once(child, "exit")
      child.kill("SIGKILL")
      await ended
    }
  }
}

/** Ends all processes that still run. */
export const killAll = () => {
  for (const child of running) {
    child.kill("SIGKILL")
  }
}

/** The other end: answers the calls, and ends with the process that started this one. */
export const answer = <A extends Api<A>>(api: A) => {
  const methods: Readonly<Record<string, (argument: never) => unknown>> = api
  process.on("message", async ({ argument, method }: { argument: never; method: string }) => {
    try {
      process.send?.({ result: await methods[method]?.(argument) })
    } catch (error) {
      process.send?.({ error: String(error) })
    }
  })
  process.on("disconnect", () => process.exit())
}
