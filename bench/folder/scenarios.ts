/**
 * The measurements of folders and of comparing versions, with their sizes and targets.
 */
import { type Part, percent, type Scenario, type Settings, unit } from "../scenario.ts"
import { copyAndWalk, diff, fetchTwice, parseBoth, watch } from "./measure.ts"

const least = "cp -r, find"
const fetched = "vitrine fetch"
const twice = "vitrine fetch, twice as many"
const watched = "vitrine start"
const parsed = "JSON.parse of both"
const compared = "vitrine diff"

export const make = (quick: boolean, settings: Settings): Part => ({
  title: "Folder",
  method:
    "The command line as an operator uses it, in a project with a `folderSource` of pictures of 10 kB in folders of 100, and a table that names them. CPU is the user and system time of the program from its start to its end. Peers: `cp -r`, `find` with one `stat` for each file, and a program that does nothing but `JSON.parse`.",
  packages: ["effect"],
  scenarios: scenarios(quick, settings)
})

const scenarios = (quick: boolean, settings: Settings): ReadonlyArray<Scenario> => {
  const files = quick ? 2000 : 10_000
  const records = quick ? 20_000 : 100_000
  const [restMs, idleMs] = quick ? [10_000, 30_000] : [120_000, 300_000]
  return [
    {
      name: "folder",
      note: `${files} files: the first fetch, and one more with nothing changed.`,
      variants: [
        { label: least, run: () => copyAndWalk(files) },
        { label: fetched, run: () => fetchTwice(files, settings) },
        { label: twice, run: () => fetchTwice(2 * files, settings) }
      ],
      rows: [
        { figure: "cpuFirst", title: "CPU, first", format: unit("ms", 0) },
        { figure: "cpuAgain", title: "CPU, nothing changed", format: unit("ms", 0) }
      ],
      targets: [
        { figure: "cpuFirst", variant: fetched, atMost: 9000 },
        { figure: "cpuFirst", variant: twice, of: fetched, atMost: 2.3 },
        { figure: "cpuAgain", variant: fetched, atMost: 2000 },
        { figure: "cpuFirst", variant: fetched, of: least },
        { figure: "cpuAgain", variant: fetched, of: least }
      ]
    },
    {
      name: "watched",
      note: `${files} files that a controller watches: from an edit to the promotion, and the processor in use over ${idleMs / 1000} s, which begin ${restMs / 1000} s after the last edit.`,
      variants: [{ label: watched, run: () => watch({ files, restMs, idleMs }, settings), runs: 1 }],
      rows: [
        { figure: "firstEdit", title: "First edit", format: unit("ms", 0) },
        { figure: "laterEdit", title: "Second edit", format: unit("ms", 0) },
        { figure: "idle", title: "Idle", format: percent(2) }
      ],
      targets: [
        { figure: "firstEdit", variant: watched, atMost: 3000 },
        { figure: "laterEdit", variant: watched, atMost: 3000 },
        { figure: "idle", variant: watched, atMost: 0.003 }
      ]
    },
    {
      name: "diff",
      note: `Two versions of ${records} records of 600 bytes, of which one in a thousand has changed; the start of the program is part of it.`,
      variants: [
        { label: parsed, run: () => parseBoth(records, settings) },
        { label: compared, run: () => diff(records, settings) }
      ],
      rows: [
        { figure: "time", title: "Time", format: unit("ms", 0) },
        { figure: "cpu", title: "CPU", format: unit("ms", 0) }
      ],
      targets: [
        { figure: "cpu", variant: compared, of: parsed, atMost: 1.5 },
        { figure: "time", variant: compared, of: parsed, atMost: 1.5 }
      ]
    }
  ]
}
