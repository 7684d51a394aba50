/**
 * The measurements of the whole program, with their targets.
 */
import { type Part, type Scenario, type Settings, unit } from "../scenario.ts"
import { idleMemory, programs, timeToEnd, timeToListen } from "./measure.ts"

const nothing = "node -e 0"
const help = "vitrine --help"
const start = "vitrine start"
const httpServer = "bare Node, HTTP server"
const controller = "idle controller"

export const make = (quick: boolean, settings: Settings): Part => ({
  title: "Program",
  method:
    "Processes as an operator starts them, seen from outside: the time is that of the wall, the memory is what `ps` says is resident.",
  packages: ["effect", "jiti"],
  scenarios: scenarios(quick, settings)
})

const scenarios = (quick: boolean, settings: Settings): ReadonlyArray<Scenario> => {
  const times = quick ? 3 : 5
  const idleMs = quick ? 3000 : 90_000
  return [
    {
      name: "start",
      note: `To the end of the process; for \`vitrine start\`, with content and transport, until the transport listens. A run is the median of ${times}.`,
      variants: [
        { label: nothing, run: () => timeToEnd(programs.nothing, settings, times) },
        { label: help, run: () => timeToEnd(programs.help, settings, times) },
        { label: start, run: () => timeToListen(settings, times) }
      ],
      rows: [{ figure: "time", title: "Time", format: unit("ms", 0) }],
      targets: [
        { figure: "time", variant: help, of: nothing, atMost: 5 },
        { figure: "time", variant: start, of: nothing, atMost: 8 }
      ]
    },
    {
      name: "rss",
      note: `After ${idleMs / 1000} s without anything to do, in which V8 collects once what the start left behind; the controller has content and a transport, and has fetched once more after its start. All runs at the same time.`,
      together: true,
      variants: [
        { label: httpServer, run: () => idleMemory(programs.httpServer, settings, idleMs) },
        { label: controller, run: () => idleMemory(programs.controller, settings, idleMs) }
      ],
      rows: [{ figure: "memory", title: "Resident memory", format: unit("MiB", 1) }],
      targets: [{ figure: "memory", variant: controller, of: httpServer, atMost: 2.2 }]
    }
  ]
}
