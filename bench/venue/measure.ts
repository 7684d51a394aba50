/**
 * One run of each scenario: a hub or a daemon of rsync, the machines that copy from it, and the cost of a change.
 */
import { statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { start } from "../processes.ts"
import type { Figures, Settings } from "../scenario.ts"
import { median, quantile } from "../statistics.ts"
import { withFolder } from "../tables/folders.ts"
import { type ContentPlan, changedFile, editionOf, writeEdition } from "./content.ts"
import { type Machine, openLines, promotedAt, startHub, startReplica, until, versionOf } from "./machines.ts"
import type { CrowdApi, Kind, ReaderApi } from "./protocol.ts"
import { keepPulling, pullAll, startDaemon, type Way } from "./rsync.ts"
import { cpuOf, cpuOfAll, cpuOfChildren, peakMemoryOf } from "./usage.ts"

export interface VenuePlan {
  readonly content: ContentPlan
  readonly machines: number
  readonly changes: number
}

/** The copied content, and the machines that copy it. */
interface Venue {
  /** The folder in which the content is edited. */
  readonly content: string
  /** Of the hub, or of the other server. */
  readonly serverCpu: () => number
  /** Of all machines. */
  readonly machinesCpu: () => number
  /** Of the server, in MiB. */
  readonly serverMemory: () => number
  /** Of each machine. */
  readonly bytes: () => Promise<ReadonlyArray<number>>
  /** Makes a version of the edits, if the server has versions. */
  readonly publish: () => Promise<void>
  /** Waits until an edition is on all machines, and returns the time of each in milliseconds, if known. */
  readonly bring: (edition: number) => Promise<ReadonlyArray<number>>
  /** Of the first machines. */
  readonly shown: ReadonlyArray<{ readonly folder: string; readonly kind: Kind }>
}

/** Time to remove old versions after a promotion. rsync also considers files of the same second equal. */
const restMs = 1000

const eachOf = (count: number, directory: string) =>
  Array.from({ length: count }, (_, index) => join(directory, `machine-${index}`))

/** How many controllers are started at once: each start needs a second of CPU. */
const startedAtOnce = 4

export type Trigger = "told" | "polling"

/** Far longer than any run, so that the machines do not poll by themselves. */
const neverMs = 24 * 3_600_000

const withReplicas =
  (trigger: Trigger, { nodeArguments }: Settings, plan: VenuePlan) =>
  (run: (venue: Venue) => Promise<Figures>): Promise<Figures> =>
    withFolder(async (directory) => {
      const content = join(directory, "content")
      writeEdition(content, 1, plan.content)
      const hub = await startHub({ directory: join(directory, "hub"), content, nodeArguments })
      const lines = await openLines(hub.port, plan.machines)
      const replicas: Array<Machine> = []
      try {
        const folders = eachOf(plan.machines, directory)
        while (replicas.length < folders.length) {
          const from = replicas.length
          replicas.push(
            ...(await Promise.all(
              folders.slice(from, from + startedAtOnce).map((directory, index) =>
                startReplica({
                  directory,
                  hub,
                  port: lines.ports[from + index] ?? 0,
                  nodeArguments: from + index === 0 ? nodeArguments : [],
                  ...(trigger === "told" ? { pollEvery: neverMs } : {})
                })
              )
            ))
          )
        }
        return await run({
          content,
          serverCpu: () => cpuOf(hub.pid),
          serverMemory: () => peakMemoryOf(hub.pid),
          machinesCpu: () => replicas.reduce((sum, { pid }) => sum + cpuOf(pid), 0),
          bytes: lines.bytes,
          publish: async () => {
            await hub.command("content.fetch")
            await sleep(trigger === "told" ? restMs : 0)
          },
          bring: async () => {
            const from = trigger === "told" ? Date.now() : promotedAt(hub)
            if (trigger === "told") {
              await Promise.all(replicas.map(({ command }) => command("content.fetch")))
            }
            await until(() => replicas.every((replica) => versionOf(replica) === versionOf(hub)))
            return replicas.map((replica) => promotedAt(replica) - from)
          },
          shown: replicas.map(({ downloads }) => ({ folder: downloads, kind: "versions" }))
        })
      } finally {
        await Promise.all([...replicas, hub, lines].map(({ stop }) => stop()))
      }
    })

/** The default interval of a replica. */
const pollEveryMs = 5000

const withRsync =
  (trigger: Trigger, way: Way, plan: VenuePlan, more: ReadonlyArray<string> = []) =>
  (run: (venue: Venue) => Promise<Figures>): Promise<Figures> =>
    withFolder(async (directory) => {
      const content = join(directory, "content")
      writeEdition(content, 1, plan.content)
      const daemon = await startDaemon(directory, content)
      const lines = await openLines(daemon.port, plan.machines)
      const folders = eachOf(plan.machines, directory)
      const machines = folders.map((folder, index) => ({ folder, port: lines.ports[index] ?? 0 }))
      const pull = (edition: number) => pullAll(way, machines, edition, more)
      const pullNow = async (edition: number) => {
        const from = performance.now()
        await pull(edition)
        return [performance.now() - from]
      }
      const waitFor = async (edition: number) => {
        const edited = statSync(join(content, changedFile)).mtimeMs
        const shown = folders.map((folder) => join(folder, changedFile))
        await until(() => shown.every((file) => editionOf(file) === edition))
        return shown.map((file) => statSync(file).ctimeMs - edited)
      }
      try {
        await pull(1)
        const polling = trigger === "polling" ? [keepPulling(machines, pollEveryMs)] : []
        try {
          return await run({
            content,
            serverCpu: () => cpuOfAll(daemon.pid),
            serverMemory: () => Number.NaN,
            machinesCpu: cpuOfChildren,
            bytes: lines.bytes,
            publish: async () => {},
            bring: trigger === "told" ? pullNow : waitFor,
            shown: folders.map((folder) => ({ folder, kind: way === "in place" ? "folder" : "link" }))
          })
        } finally {
          await Promise.all(polling.map(({ stop }) => stop()))
        }
      } finally {
        await Promise.all([daemon, lines].map(({ stop }) => stop()))
      }
    })

type WithVenue = ReturnType<typeof withReplicas>

/** Changes files again and again, and brings each change to all machines. */
const changes = (withVenue: WithVenue, { changes, content, machines }: VenuePlan): Promise<Figures> =>
  withVenue(async (venue) => {
    const changed = content.changed * content.changedBytes
    const measured: Array<Figures> = []
    for (let edition = 2; edition < 2 + changes; edition++) {
      await sleep(restMs)
      writeEdition(venue.content, edition, content)
      await venue.publish()
      const before = { server: venue.serverCpu(), machines: venue.machinesCpu(), bytes: await venue.bytes() }
      const times = await venue.bring(edition)
      const beyond = (await venue.bytes()).map(
        (bytes, machine) => bytes - (before.bytes[machine] ?? 0) - changed
      )
      measured.push({
        last: Math.max(...times),
        median: median(times),
        beyond: quantile(beyond, 1) / 1024,
        ofChanged: quantile(beyond, 1) / changed,
        ofAll: quantile(beyond, 1) / content.bytes,
        serverCpu: venue.serverCpu() - before.server,
        machineCpu: (venue.machinesCpu() - before.machines) / machines
      })
    }
    const figures = Object.keys(measured[0] ?? {})
    return {
      ...Object.fromEntries(
        figures.map((figure) => [figure, median(measured.map((change) => change[figure] ?? Number.NaN))])
      ),
      slowest: Math.max(...measured.map(({ last }) => last ?? 0)),
      memory: venue.serverMemory()
    }
  })

/** Changes files again and again, while a reader reads the first machine's files without a pause. */
const readings = (withVenue: WithVenue, { changes, content }: VenuePlan): Promise<Figures> =>
  withVenue(async (venue) => {
    const reader = start<ReaderApi>("./venue/reader.js", [])
    try {
      const [shown] = venue.shown
      if (shown !== undefined) {
        await reader.call("start", shown)
      }
      for (let edition = 2; edition < 2 + changes; edition++) {
        await sleep(restMs)
        writeEdition(venue.content, edition, content)
        await venue.publish()
        await venue.bring(edition)
      }
      return { ...(await reader.call("stop")) }
    } finally {
      await reader.stop()
    }
  })

const by = { changes, readings }

export const replicas = (
  what: keyof typeof by,
  trigger: Trigger,
  settings: Settings,
  plan: VenuePlan
): Promise<Figures> => by[what](withReplicas(trigger, settings, plan), plan)

export const rsync = (
  what: keyof typeof by,
  trigger: Trigger,
  way: Way,
  plan: VenuePlan,
  more: ReadonlyArray<string> = []
): Promise<Figures> => by[what](withRsync(trigger, way, plan, more), plan)

export interface CrowdPlan {
  readonly machines: number
  readonly processes: number
  readonly restMs: number
  readonly durationMs: number
}

/** Machines that only poll, or that only report. */
export const crowd = (
  what: "pollers" | "reporters",
  { nodeArguments }: Settings,
  { durationMs, machines, processes, restMs }: CrowdPlan
): Promise<Figures> =>
  withFolder(async (directory) => {
    const content = join(directory, "content")
    writeEdition(content, 1, { files: 2, bytes: 2048, changed: 1, changedBytes: 1024 })
    const hub = await startHub({ directory: join(directory, "hub"), content, nodeArguments })
    const crowd = Array.from({ length: processes }, () => start<CrowdApi>(`./venue/${what}.js`, []))
    const requests = async () => {
      const counted = await Promise.all(crowd.map((process) => process.call("requests")))
      return counted.reduce((sum, { failed, requests }) => ({
        failed: sum.failed + failed,
        requests: sum.requests + requests
      }))
    }
    try {
      await Promise.all(
        crowd.map((process) => process.call("start", { port: hub.port, machines: machines / processes }))
      )
      await sleep(restMs)
      await requests()
      const [before, from] = [cpuOf(hub.pid), performance.now()]
      await sleep(durationMs)
      const cpu = cpuOf(hub.pid) - before
      const time = performance.now() - from
      const counted = await requests()
      return {
        share: cpu / time,
        cpu: machines === 0 ? Number.NaN : (cpu * 1000) / counted.requests,
        rate: (counted.requests * 1000) / time,
        failed: counted.failed,
        memory: peakMemoryOf(hub.pid)
      }
    } finally {
      await Promise.all([...crowd, hub].map(({ stop }) => stop()))
    }
  })

export interface ScreensPlan {
  readonly screens: number
  /** How often each screen acks, in milliseconds. */
  readonly everyMs: number
  readonly restMs: number
  readonly durationMs: number
}

/** Screens that renew their leases, evenly spread. */
export const screens = (
  { nodeArguments }: Settings,
  { durationMs, everyMs, restMs, screens }: ScreensPlan
): Promise<Figures> =>
  withFolder(async (directory) => {
    const content = join(directory, "content")
    writeEdition(content, 1, { files: 2, bytes: 2048, changed: 1, changedBytes: 1024 })
    const hub = await startHub({ directory: join(directory, "hub"), content, nodeArguments, screens })
    let acks = 0
    let failed = 0
    const versionId = versionOf(hub)
    const ack = (index: number) =>
      hub
        .command("content.ack", {
          consumerId: `screen-${index % screens}`,
          versionId,
          renewMs: everyMs,
          visible: true
        })
        .then(
          () => acks++,
          () => failed++
        )
    let next = 0
    const timer = setInterval(() => ack(next++), everyMs / screens)
    try {
      await sleep(restMs)
      acks = 0
      const [before, from] = [cpuOf(hub.pid), performance.now()]
      await sleep(durationMs)
      const cpu = cpuOf(hub.pid) - before
      return { share: cpu / (performance.now() - from), cpu: (cpu * 1000) / acks, failed }
    } finally {
      clearInterval(timer)
      await hub.stop()
    }
  })
