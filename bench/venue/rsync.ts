/**
 * `rsync` as a technician would use it: a daemon, and all machines pulling at once.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { freePort } from "../freePort.ts"

export interface Daemon {
  readonly pid: number
  readonly port: number
  readonly stop: () => Promise<void>
}

/** The result of a pull: the folder itself changed, or a new folder beside it, and the link `current` to the new folder. */
export type Way = "in place" | "link"

const running = new Set<ChildProcess>()

process.once("exit", () => {
  for (const child of running) {
    child.kill("SIGKILL")
  }
})

const run = (program: string, args: ReadonlyArray<string>) => {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] })
  running.add(child)
  const ended = once(child, "exit").finally(() => running.delete(child))
  return { pid: child.pid ?? 0, ended, kill: () => child.kill() }
}

/** Serves a folder as the module `content`. */
export const startDaemon = async (directory: string, content: string): Promise<Daemon> => {
  const port = await freePort()
  const configuration = join(directory, "rsyncd.conf")
  writeFileSync(
    configuration,
    `use chroot = no\nlog file = /dev/null\nreverse lookup = no\n[content]\npath = ${content}\n`
  )
  const { ended, kill, pid } = run("rsync", [
    "--daemon",
    "--no-detach",
    "--address=127.0.0.1",
    `--port=${port}`,
    `--config=${configuration}`
  ])
  await accepts(port)
  return {
    pid,
    port,
    stop: async () => {
      kill()
      await ended
    }
  }
}

interface Target {
  readonly port: number
  readonly folder: string
}

const addressOf = (port: number) => `rsync://127.0.0.1:${port}/content/`

/** All machines pull at once, each over its port into its folder. Done when the last one is. */
export const pullAll = async (
  way: Way,
  machines: ReadonlyArray<Target>,
  edition: number,
  more: ReadonlyArray<string>
) => {
  const lines = machines.map(({ folder, port }) => {
    mkdirSync(folder, { recursive: true })
    const rsync = (to: string, ...args: ReadonlyArray<string>) =>
      ["rsync -a --delete", ...more, ...args, addressOf(port), `${to}/`].join(" ")
    return way === "in place"
      ? `${rsync(folder)} & jobs="$jobs $!"`
      : `(${rsync(`${folder}/${edition}`, edition === 1 ? "" : `--link-dest=../${edition - 1}/`)} && ln -s ${edition} ${folder}/next && mv -T ${folder}/next ${folder}/current) & jobs="$jobs $!"`
  })
  const script = [...lines, `for job in $jobs; do wait $job || exit 1; done`].join("\n")
  const [status] = await run("sh", ["-c", script]).ended
  if (status !== 0) {
    throw new Error(`rsync failed: ${status}`)
  }
}

/** Each machine pulls into its folder again and again, with a pause in between, in place. They do not begin together. */
export const keepPulling = (machines: ReadonlyArray<Target>, pauseMs: number) => {
  let isStopped = false
  const pulling = machines.map(async ({ folder, port }) => {
    await sleep(Math.random() * pauseMs)
    while (!isStopped) {
      const [status] = await run("rsync", ["-a", "--delete", addressOf(port), `${folder}/`]).ended
      if (status !== 0) {
        throw new Error(`rsync failed: ${status}`)
      }
      await sleep(pauseMs)
    }
  })
  return {
    stop: async () => {
      isStopped = true
      await Promise.all(pulling)
    }
  }
}

const accepts = async (port: number) => {
  for (;;) {
    const socket = connect(port, "127.0.0.1")
    const connected = await Promise.race([
      once(socket, "connect").then(
        () => true,
        () => false
      ),
      sleep(1000, false)
    ])
    socket.destroy()
    if (connected) {
      return
    }
    await sleep(20)
  }
}
