/**
 * Event streams in several processes on one NATS server.
 */
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { freePort } from "../freePort.ts"
import { start, startProgram } from "../processes.ts"
import type { Figures, Settings } from "../scenario.ts"
import { withFolder } from "../tables/folders.ts"
import type { StreamPlan } from "./measure.ts"
import type { LoadApi, ServerApi } from "./protocol.ts"

/** User and system time of a process since its start, in microseconds; Linux counts it in hundredths of a second. */
const cpuOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** The plan for each process: its clients, and the events that one process publishes to all. */
export const streamOnNats = (processes: number, settings: Settings, plan: StreamPlan): Promise<Figures> =>
  withFolder((store) => measure(store, processes, settings, plan))

const measure = async (
  store: string,
  processes: number,
  { nodeArguments }: Settings,
  { clients, events, intervalMs, warmUp }: StreamPlan
): Promise<Figures> => {
  const port = await freePort()
  const broker = startProgram("nats-server", [
    ...["--addr", "127.0.0.1", "--port", String(port)],
    ...["--jetstream", "--store_dir", store]
  ])
  await broker.says("Server is ready")
  const nats = `nats://127.0.0.1:${port}`
  const all = Array.from({ length: processes }, () => ({
    server: start<ServerApi>("./transport/servers/vitrine.js", ["--expose-gc", ...nodeArguments]),
    load: start<LoadApi>("./transport/load.js", [])
  }))
  const [publisher] = all
  const sum = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0)
  try {
    for (const { load, server } of all) {
      await load.call("connect", { port: await server.call("start", { keepAliveMs: 15_000, nats }), clients })
    }
    await sleep(1000)
    const deliver = async (events: number) => {
      await Promise.all(all.map(({ load }) => load.call("expect", { events })))
      const cpu = async () => sum(await Promise.all(all.map(({ server }) => server.call("cpu"))))
      const [cpuBefore, brokerBefore, from] = [await cpu(), cpuOf(broker.pid), performance.now()]
      await publisher?.server.call("publish", { events, intervalMs })
      const delivered = await Promise.all(all.map(({ load }) => load.call("deliveries")))
      const elapsed = performance.now() - from
      const missing = sum(delivered.map(({ missing }) => missing))
      const [used, brokerUsed] = [(await cpu()) - cpuBefore, cpuOf(broker.pid) - brokerBefore]
      return {
        missing,
        disordered: sum(delivered.map(({ disordered }) => disordered)),
        cpu: used / (events * clients * processes - missing),
        busy: used / 1000 / elapsed,
        broker: brokerUsed / 1000 / events,
        brokerBusy: brokerUsed / 1000 / elapsed,
        medianDelay: Math.max(...delivered.map(({ medianDelay }) => medianDelay)),
        p99Delay: Math.max(...delivered.map(({ p99Delay }) => p99Delay)),
        generator: sum(delivered.map(({ generator }) => generator))
      }
    }
    await deliver(warmUp)
    return await deliver(events)
  } finally {
    await Promise.all(all.flatMap(({ load, server }) => [load.stop(), server.stop()]))
    await broker.stop()
  }
}
