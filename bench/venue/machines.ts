/**
 * The hub and the machines of a venue: controllers as an operator starts them, with lines between them.
 */
import { mkdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { type Process, start } from "../processes.ts"
import { bin, startProgram } from "../programs.ts"
import type { LinesApi } from "./protocol.ts"

export interface Machine {
  readonly pid: number
  readonly downloads: string
  /** The port of the content server; 0 if there is none. */
  readonly port: number
  /** Executes a command, and waits for its result. */
  readonly command: (type: string, fields?: object) => Promise<void>
  readonly stop: () => Promise<void>
}

interface Plan {
  /** An empty folder of its own. */
  readonly directory: string
  readonly nodeArguments?: ReadonlyArray<string>
}

const startMachine = async (
  name: "hub" | "replica",
  { directory, nodeArguments = [] }: Plan,
  env: Readonly<Record<string, string>>
): Promise<Machine> => {
  const downloads = join(directory, "downloads")
  mkdirSync(directory, { recursive: true })
  // In TypeScript, as operators write it: for JavaScript, Node would load the modules of the package beside the command line.
  const configuration = fileURLToPath(new URL(`../../venue/${name}.config.ts`, import.meta.url))
  const { logged, pid, stop } = startProgram(
    [bin, "start", "--config", configuration, "--run-dir", join(directory, "run")],
    { directory, nodeArguments, env: { ...env, DOWNLOADS: downloads } }
  )
  const url = await logged(/HTTP transport on (http:\S+): /)
  return {
    pid,
    downloads,
    port: name === "hub" ? Number(await logged(/Content server on http:\S+:(\d+)/)) : 0,
    command: async (type, fields) => {
      const response = await fetch(`${url}/command`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ type, ...fields })
      })
      const text = await response.text()
      if (!response.ok) {
        throw new Error(`${type}: ${text}`)
      }
    },
    stop
  }
}

/** A hub that has fetched the folder, and expects this many screens, `screen-0` and so on. Default none. */
export const startHub = async (
  plan: Plan & { readonly content: string; readonly screens?: number }
): Promise<Machine> => {
  const hub = await startMachine("hub", plan, { CONTENT: plan.content, SCREENS: String(plan.screens ?? 0) })
  await until(() => versionOf(hub) !== undefined)
  return hub
}

/** A machine with a copy of the hub's content. `pollEvery` is in milliseconds; default: that of a replica. */
export const startReplica = async (
  plan: Plan & { readonly hub: Machine; readonly port: number; readonly pollEvery?: number }
): Promise<Machine> => {
  const replica = await startMachine("replica", plan, {
    HUB: `http://127.0.0.1:${plan.port}`,
    ...(plan.pollEvery === undefined ? {} : { POLL_EVERY: String(plan.pollEvery) })
  })
  await until(() => versionOf(replica) === versionOf(plan.hub))
  return replica
}

/** The id of the version that it shows. */
export const versionOf = ({ downloads }: Pick<Machine, "downloads">): string | undefined => {
  const file = join(downloads, "manifest.json")
  return statSync(file, { throwIfNoEntry: false }) && JSON.parse(readFileSync(file, "utf8")).versionId
}

/** When its manifest was renamed into place, in milliseconds since 1970. */
export const promotedAt = ({ downloads }: Pick<Machine, "downloads">): number =>
  statSync(join(downloads, "manifest.json")).ctimeMs

export const until = async (holds: () => boolean) => {
  while (!holds()) {
    await sleep(20)
  }
}

export interface Lines {
  readonly ports: ReadonlyArray<number>
  readonly bytes: () => Promise<ReadonlyArray<number>>
  readonly stop: () => Promise<void>
}

/** This many lines to a port. */
export const openLines = async (port: number, lines: number): Promise<Lines> => {
  const counting: Process<LinesApi> = start("./venue/lines.js", [])
  return {
    ports: await counting.call("open", { port, lines }),
    bytes: () => counting.call("bytes"),
    stop: counting.stop
  }
}
