/**
 * One run of each scenario: a server and a load generator, both fresh, and the figures of that run.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { type Process, start } from "../processes.ts"
import type { Figures, Settings } from "../scenario.ts"
import type { ConnectPlan, LoadApi, PublishPlan, ServerApi } from "./protocol.ts"

export type Peer = "vitrine" | "shim" | "plain" | "plainFiber" | "betterSse" | "effect"

interface Setup {
  readonly server: Process<ServerApi>
  readonly load: Process<LoadApi>
  readonly port: number
  /** The server's user and system time during the work, in microseconds. */
  readonly cpuOf: (work: () => Promise<unknown>) => Promise<number>
  readonly join: (clients: number) => Promise<number>
}

/** The pause after streams have joined or gone. */
const settleMs = 500

const withServer =
  (peer: Peer, { nodeArguments }: Settings, keepAliveMs = 15_000) =>
  async (run: (setup: Setup) => Promise<Figures>): Promise<Figures> => {
    const server = start<ServerApi>(`./transport/servers/${peer}.js`, ["--expose-gc", ...nodeArguments])
    const load = start<LoadApi>("./transport/load.js", [])
    try {
      const port = await server.call("start", { keepAliveMs })
      return await run({
        server,
        load,
        port,
        cpuOf: async (work) => {
          const before = await server.call("cpu")
          await work()
          return (await server.call("cpu")) - before
        },
        join: async (clients) => {
          const time = await load.call("connect", { port, clients })
          await sleep(settleMs)
          return time
        }
      })
    } finally {
      await Promise.all([load.stop(), server.stop()])
    }
  }

const deliver = async ({ cpuOf, load, server }: Setup, clients: number, plan: PublishPlan) => {
  await load.call("expect", { events: plan.events })
  const from = performance.now()
  let deliveries = { missing: 0, disordered: 0, medianDelay: 0, p99Delay: 0, generator: 0 }
  const cpu = await cpuOf(async () => {
    await server.call("publish", plan)
    deliveries = await load.call("deliveries")
  })
  return {
    ...deliveries,
    cpu: cpu / (plan.events * clients - deliveries.missing),
    busy: cpu / 1000 / (performance.now() - from)
  }
}

export interface StreamPlan extends PublishPlan {
  readonly clients: number
  /** How many events are sent first in the same way, without measuring. */
  readonly warmUp: number
  /** How often all of it is published. Default 1. */
  readonly times?: number
}

/** Publishes to open streams. */
export const stream = (
  peer: Peer,
  settings: Settings,
  { clients, events, intervalMs, times = 1, warmUp }: StreamPlan
): Promise<Figures> =>
  withServer(
    peer,
    settings
  )(async (setup) => {
    await setup.join(clients)
    await deliver(setup, clients, { events: warmUp, intervalMs })
    const runs: Array<Awaited<ReturnType<typeof deliver>>> = []
    for (let time = 0; time < times; time++) {
      runs.push(await deliver(setup, clients, { events, intervalMs }))
    }
    const mean = (figure: keyof Awaited<ReturnType<typeof deliver>>) =>
      runs.reduce((sum, run) => sum + run[figure], 0) / times
    return {
      cpu: mean("cpu"),
      busy: mean("busy"),
      missing: mean("missing") * times,
      disordered: mean("disordered") * times,
      medianDelay: mean("medianDelay"),
      p99Delay: mean("p99Delay"),
      generator: mean("generator")
    }
  })

const mebibyte = 1024 * 1024

/** Resident memory for each idle stream, in KiB, of clients that connect one after another or all at once. */
export const memory = (
  peer: Peer,
  settings: Settings,
  plan: Pick<ConnectPlan, "clients" | "inTurn">
): Promise<Figures> =>
  withServer(
    peer,
    settings
  )(async ({ join, load, port, server }) => {
    // Code that the process loads and compiles for the first clients must not count for a stream.
    await join(100)
    await load.call("disconnect")
    await sleep(settleMs)
    const before = await server.call("rss")
    await load.call("connect", { port, ...plan })
    await sleep(settleMs)
    const after = await server.call("rss")
    return { kib: (after - before) / plan.clients / 1024, before: before / mebibyte, after: after / mebibyte }
  })

/** Clients that connect at once: to a server that has just started, and again to the same. */
export const connect = (peer: Peer, settings: Settings, clients: number): Promise<Figures> =>
  withServer(
    peer,
    settings
  )(async ({ cpuOf, load, port }) => {
    const wave = async () => {
      let time = 0
      const cpu = await cpuOf(async () => {
        time = await load.call("connect", { port, clients })
      })
      return { time, cpu: cpu / 1000 }
    }
    const cold = await wave()
    await load.call("disconnect")
    await sleep(2 * settleMs)
    const warm = await wave()
    return { coldTime: cold.time, coldCpu: cold.cpu, warmTime: warm.time, warmCpu: warm.cpu }
  })

export interface IdlePlan {
  readonly clients: number
  /** How long the server idles before it is measured: V8 shrinks the heap once, some time after the first ping. */
  readonly restMs: number
  readonly durationMs: number
  readonly keepAliveMs: number
}

/** Streams with pings only. */
export const idle = (
  peer: Peer,
  settings: Settings,
  { clients, durationMs, keepAliveMs, restMs }: IdlePlan
): Promise<Figures> =>
  withServer(
    peer,
    settings,
    keepAliveMs
  )(async ({ cpuOf, join }) => {
    await join(clients)
    const rest = (await cpuOf(() => sleep(restMs))) / 1000
    return { rest, share: (await cpuOf(() => sleep(durationMs))) / 1000 / durationMs }
  })

export interface CommandPlan {
  readonly connections: number
  readonly warmUpMs: number
  readonly durationMs: number
}

const body = JSON.stringify({ type: "bench.echo", id: 7 })

export const requests = {
  command: `POST /command HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  status: "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n"
}

export const commands = (
  peer: Peer,
  settings: Settings,
  request: string,
  { connections, durationMs, warmUpMs }: CommandPlan
): Promise<Figures> =>
  withServer(
    peer,
    settings
  )(async ({ cpuOf, load, port }) => {
    await load.call("request", { port, connections, request, durationMs: warmUpMs })
    let answers = { rate: 0, generator: 0 }
    const cpu = await cpuOf(async () => {
      answers = await load.call("request", { port, connections, request, durationMs })
    })
    return { ...answers, busy: cpu / 1000 / durationMs }
  })
