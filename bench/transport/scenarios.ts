/**
 * The measurements of the transport, with their sizes and targets.
 */
import {
  count,
  type Figures,
  type Part,
  percent,
  type Scenario,
  type Settings,
  unit,
  type Variant
} from "../scenario.ts"
import { commands, connect, idle, memory, type Peer, requests, type StreamPlan, stream } from "./measure.ts"
import { streamOnNats } from "./onNats.ts"

const labels: Readonly<Record<Peer, string>> = {
  vitrine: "vitrine",
  shim: "vitrine/plain",
  plain: "plain node:http",
  plainFiber: "plain node:http, published by a fiber",
  betterSse: "better-sse",
  effect: "bare Effect"
}
const { effect, plain, vitrine } = labels

const oneProcess = "one process"
const fourProcesses = "four processes on NATS"

const variantsOf = (
  peers: ReadonlyArray<Peer>,
  run: (peer: Peer) => Promise<Figures>
): ReadonlyArray<Variant> => peers.map((peer) => ({ label: labels[peer], run: () => run(peer) }))

const requestLabel = (peer: Peer, request: keyof typeof requests) =>
  `${labels[peer]}, ${request === "command" ? "POST /command" : "GET /status"}`

const cpuRow = { figure: "cpu", title: "CPU per delivery", format: unit("µs", 2) }
const missingRow = { figure: "missing", title: "Missing deliveries", format: count }
const busyRow = { figure: "busy", title: "Server's processor in use", format: percent(0) }
const generatorRow = { figure: "generator", title: "Generator's processor in use", format: percent(0) }

export const make = (quick: boolean, settings: Settings): Part => ({
  title: "Transport",
  method:
    "Each server and the load generator are processes of their own, started anew for each run, on loopback. CPU is the user and system time of the server's process. Every delivery is counted by a mark in its bytes and carries the time of its publication. The generator looks for these marks only; where its processor is in use for less than all of the time, it is not what limits the server.",
  packages: ["effect", "@effect/platform", "@effect/platform-node", "better-sse"],
  scenarios: scenarios(quick, settings)
})

const scenarios = (quick: boolean, settings: Settings): ReadonlyArray<Scenario> => {
  const paced: StreamPlan = { clients: 1000, events: quick ? 150 : 400, intervalMs: 10, warmUp: 100 }
  const burst: StreamPlan = { clients: 1000, events: 200, intervalMs: 0, warmUp: 100, times: quick ? 1 : 2 }
  const lone = (clients: number): StreamPlan => ({
    clients,
    events: quick ? 500 : 2000,
    intervalMs: 10,
    warmUp: 100
  })
  const growth = (clients: number): StreamPlan => ({
    clients,
    // The same number of deliveries per second for any number of clients.
    intervalMs: clients / 50,
    events: Math.ceil(((quick ? 75 : 200) * 1000) / clients),
    warmUp: Math.ceil(50_000 / clients)
  })
  const idlePlan = quick
    ? { clients: 32, restMs: 20_000, durationMs: 10_000, keepAliveMs: 2500 }
    : { clients: 32, restMs: 90_000, durationMs: 60_000, keepAliveMs: 15_000 }
  const spread: StreamPlan = { clients: 1000, events: quick ? 50 : 200, intervalMs: 100, warmUp: 30 }
  const commandPlan = { connections: 32, warmUpMs: quick ? 700 : 1500, durationMs: quick ? 1000 : 2000 }

  return [
    {
      name: "paced",
      note: `${paced.clients} clients, an event of 170 bytes each ${paced.intervalMs} ms, ${paced.events} events; bare Effect: 40 events, two runs at most.`,
      variants: [
        ...variantsOf(["vitrine", "plain", "betterSse"], (peer) => stream(peer, settings, paced)),
        {
          label: effect,
          runs: 2,
          run: () => stream("effect", settings, { ...paced, events: 40, warmUp: 10 })
        }
      ],
      rows: [
        cpuRow,
        { figure: "medianDelay", title: "Delay from publish to read, median", format: unit("ms", 2) },
        { figure: "p99Delay", title: "Delay from publish to read, p99", format: unit("ms", 2) },
        missingRow,
        busyRow,
        generatorRow
      ],
      targets: [
        { figure: "cpu", variant: vitrine, of: plain, atMost: 0.85 },
        { figure: "medianDelay", variant: vitrine, of: plain, atMost: 1 },
        { figure: "p99Delay", variant: vitrine, of: plain, atMost: 1 },
        { figure: "missing", variant: vitrine, atMost: 0 }
      ]
    },
    {
      name: "burst",
      note: `${burst.events} events at once to ${burst.clients} clients; bare Effect: two runs at most.`,
      variants: [
        ...variantsOf(["vitrine", "plain", "betterSse"], (peer) => stream(peer, settings, burst)),
        { label: effect, runs: 2, run: () => stream("effect", settings, { ...burst, warmUp: 20 }) }
      ],
      rows: [cpuRow, missingRow, generatorRow],
      targets: [
        { figure: "cpu", variant: vitrine, of: plain, atMost: 0.15 },
        { figure: "missing", variant: vitrine, atMost: 0 }
      ]
    },
    {
      name: "shim",
      note: `The transport in a plain controller: ${paced.clients} clients, an event each ${paced.intervalMs} ms, ${paced.events} events.`,
      variants: variantsOf(["vitrine", "shim"], (peer) => stream(peer, settings, paced)),
      rows: [cpuRow, missingRow, busyRow, generatorRow],
      targets: [
        { figure: "cpu", variant: labels.shim, of: vitrine, atMost: 1.1 },
        { figure: "missing", variant: labels.shim, atMost: 0 }
      ]
    },
    ...[32, 1].map((clients) => {
      const plan = lone(clients)
      return {
        name: clients === 1 ? "lone" : `lone${clients}`,
        note: `A lone event each ${plan.intervalMs} ms to ${clients === 1 ? "one client" : `${clients} clients`}, ${plan.events} events: the server sleeps in between.`,
        variants: variantsOf(["vitrine", "plainFiber", "shim", "plain"], (peer) =>
          stream(peer, settings, plan)
        ),
        rows: [cpuRow, missingRow, busyRow],
        targets: [
          { figure: "cpu", variant: vitrine, of: labels.plainFiber, atMost: 2 },
          { figure: "cpu", variant: labels.shim, of: plain, atMost: 2.5 },
          { figure: "cpu", variant: vitrine, of: plain },
          { figure: "missing", variant: vitrine, atMost: 0 }
        ]
      }
    }),
    {
      name: "growth",
      note: "vitrine, 50,000 deliveries a second whatever the number of clients.",
      variants: [500, 4000].map((clients) => ({
        label: `${clients} clients`,
        run: () => stream("vitrine", settings, growth(clients))
      })),
      rows: [cpuRow, missingRow, busyRow, generatorRow],
      targets: [{ figure: "cpu", variant: "4000 clients", of: "500 clients", atMost: 1.15 }]
    },
    {
      name: "nats",
      note: `An event each ${spread.intervalMs} ms, ${spread.events} events, ${spread.clients} clients of each process; published by one of the four, over one JetStream. Delays are those of the slowest process.`,
      variants: [
        { label: oneProcess, runs: 3, run: () => stream("vitrine", settings, spread) },
        { label: fourProcesses, runs: 3, run: () => streamOnNats(4, settings, spread) }
      ],
      rows: [
        cpuRow,
        { figure: "medianDelay", title: "Delay from publish to read, median", format: unit("ms", 2) },
        { figure: "p99Delay", title: "Delay from publish to read, p99", format: unit("ms", 2) },
        missingRow,
        { figure: "disordered", title: "Deliveries out of order, or twice", format: count },
        { figure: "broker", title: "CPU of the NATS server for each event", format: unit("ms", 2) },
        { figure: "brokerBusy", title: "NATS server's processor in use", format: percent(1) },
        busyRow,
        generatorRow
      ],
      targets: [
        { figure: "cpu", variant: fourProcesses, of: oneProcess },
        { figure: "medianDelay", variant: fourProcesses, of: oneProcess },
        { figure: "missing", variant: fourProcesses, atMost: 0 },
        { figure: "disordered", variant: fourProcesses, atMost: 0 }
      ]
    },
    ...[
      { name: "memory", inTurn: true, order: "one after another", atMost: 1 },
      { name: "memoryAtOnce", inTurn: false, order: "all at once", atMost: 1.3 }
    ].map(({ atMost, inTurn, name, order }) => ({
      name,
      note: `2000 idle streams, whose clients connect ${order}; resident memory after less before, garbage collected before both readings.`,
      variants: variantsOf(["vitrine", "shim", "plain", "betterSse", "effect"], (peer) =>
        memory(peer, settings, { clients: 2000, inTurn })
      ),
      rows: [
        { figure: "kib", title: "Resident memory per stream", format: unit("KiB", 1) },
        { figure: "before", title: "Resident memory without streams", format: unit("MiB", 0) },
        { figure: "after", title: "Resident memory with streams", format: unit("MiB", 0) }
      ],
      targets: [vitrine, labels.shim].map((variant) => ({ figure: "kib", variant, of: plain, atMost }))
    })),
    {
      name: "connect",
      note: "1000 clients at once until all have retry and backlog: just after the start, and again.",
      variants: variantsOf(["vitrine", "plain", "betterSse", "effect"], (peer) =>
        connect(peer, settings, 1000)
      ),
      rows: [
        { figure: "coldTime", title: "Time, first clients", format: unit("ms", 0) },
        { figure: "coldCpu", title: "CPU, first clients", format: unit("ms", 0) },
        { figure: "warmTime", title: "Time, later clients", format: unit("ms", 0) },
        { figure: "warmCpu", title: "CPU, later clients", format: unit("ms", 0) }
      ],
      targets: ["coldTime", "coldCpu", "warmTime", "warmCpu"].map((figure) => ({
        figure,
        variant: vitrine,
        of: plain,
        atMost: 3
      }))
    },
    {
      name: "idle",
      note: `${idlePlan.clients} clients for ${idlePlan.durationMs / 1000} s, after ${idlePlan.restMs / 1000} s of rest in which V8 collects once what the start left behind; all runs at the same time.`,
      variants: variantsOf(["vitrine", "plain"], (peer) => idle(peer, settings, idlePlan)),
      rows: [
        { figure: "share", title: "Server's processor in use", format: percent(3) },
        { figure: "rest", title: "CPU in the rest before", format: unit("ms", 0) }
      ],
      targets: [{ figure: "share", variant: vitrine, atMost: 0.001 }],
      together: true
    },
    {
      name: "requests",
      note: `One request after the other on each of ${commandPlan.connections} connections.`,
      variants: (["command", "status"] as const).flatMap((name) =>
        (["vitrine", "effect", "plain"] as const).map((peer) => ({
          label: requestLabel(peer, name),
          run: () => commands(peer, settings, requests[name], commandPlan)
        }))
      ),
      rows: [{ figure: "rate", title: "Answers per second", format: count }, busyRow, generatorRow],
      targets: (["command", "status"] as const).flatMap((name) => {
        const judged = { figure: "rate", variant: requestLabel("vitrine", name) }
        return [
          // Both are compared with an app that reads a JSON body and answers.
          { ...judged, of: requestLabel("effect", "command"), atLeast: 0.9 },
          ...(name === "status" ? [{ ...judged, of: requestLabel("effect", name) }] : []),
          { ...judged, of: requestLabel("plain", name) }
        ]
      })
    }
  ]
}
