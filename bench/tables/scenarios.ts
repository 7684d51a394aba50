/**
 * The measurements of the table source, with their sizes and targets.
 */
import { count, type Part, percent, type Scenario, type Settings, unit } from "../scenario.ts"
import { attachmentsFolder, tablesFolder } from "./folders.ts"
import { attachments, changes, edits, limitedList, list, type Served } from "./measure.ts"

const vitrine = "vitrine"
const airtable = "airtable"
const download = "plain download"

export const make = (quick: boolean, settings: Settings): Part => ({
  title: "Table source",
  method:
    "The table server and the program that saves its tables are processes of their own, started anew for each run, on loopback; the server has read its files before. vitrine: the content plugin in task mode, into a version on disk. airtable: all records of a table by the official client, then one `JSON.stringify` and one write; it is checked that the files are the same to the byte. Time is that of the work in the program, without the start of its process; CPU is the user and system time of its process, start included; peak memory is the most that was resident in it.",
  packages: ["effect", "@effect/platform", "@effect/platform-node", "airtable"],
  scenarios: scenarios(quick, settings)
})

const timeRow = { figure: "time", title: "Time", format: unit("ms", 0) }
const cpuRow = { figure: "cpu", title: "CPU", format: unit("ms", 0) }
const memoryRow = { figure: "memory", title: "Peak memory", format: unit("MiB", 0) }
const pagesRow = { figure: "pages", title: "Pages read", format: count }
const ratio = (value: number) => value.toFixed(2)
const busyRow = { figure: "busy", title: "Server's processor in use", format: percent(0) }

const scenarios = (quick: boolean, settings: Settings): ReadonlyArray<Scenario> => {
  const few = quick ? 2000 : 10_000
  const many = 10 * few
  const objects = (records: number): Served => ({
    source: tablesFolder(["Objects"], records),
    tables: ["Objects"],
    limited: false
  })
  const [fewRecords, manyRecords] = [objects(few), objects(many)]
  const fewLabel = `vitrine, ${few} records`

  const pagesOfEach = 20
  const threeTables = ["Objects", "Rooms", "Artists"]
  const pages = threeTables.length * pagesOfEach
  const limitedTables: Served = {
    source: tablesFolder(threeTables, pagesOfEach * 100),
    tables: threeTables,
    limited: true
  }
  const limits = { floorMs: (pages / 5) * 1000, timeLimitMs: quick ? 20_000 : 90_000 }

  const pictures = { records: 100, perRecord: quick ? 4 : 20, bytes: 100 * 1024 }
  const files = pictures.records * pictures.perRecord
  const withPictures: Served = { source: attachmentsFolder(pictures), tables: ["Objects"], limited: true }

  const edited = { edits: quick ? 3 : 10, records: 100 }
  const intervals = [1000, 2000]
  const changed = { edits: quick ? 6 : 21, records: 250, fetchEveryMs: 1000, idleMs: quick ? 10_000 : 60_000 }
  const asked = "asked what has changed"

  return [
    {
      name: "list",
      note: `One table of ${many} records with 20 fields, no limit. Three runs.`,
      variants: [
        ...(["vitrine", "airtable"] as const).map((peer) => ({
          label: peer,
          runs: 3,
          run: () => list(peer, settings, manyRecords)
        })),
        { label: fewLabel, runs: 3, run: () => list("vitrine", settings, fewRecords) }
      ],
      rows: [timeRow, cpuRow, memoryRow, pagesRow, busyRow],
      targets: [
        { figure: "time", variant: vitrine, of: airtable, atMost: 0.6 },
        { figure: "cpu", variant: vitrine, of: airtable, atMost: 0.6 },
        { figure: "memory", variant: vitrine, of: airtable, atMost: 0.3 },
        { figure: "memory", variant: vitrine, of: fewLabel, atMost: 1.5 }
      ]
    },
    {
      name: "limited-list",
      note: `Three tables of ${pagesOfEach} pages each; the server enforces the limit of five requests a second with the penalty of 30 s, so that nobody can be faster than ${limits.floorMs / 1000} s. One run, of ${limits.timeLimitMs / 1000} s at most.`,
      variants: (["vitrine", "airtable"] as const).map((peer) => ({
        label: peer,
        runs: 1,
        run: () => limitedList(peer, settings, limitedTables, limits)
      })),
      rows: [
        timeRow,
        { figure: "ofFloor", title: "Time, of the least possible", format: ratio },
        { figure: "pages", title: `Pages read, of ${pages}`, format: count },
        { figure: "refused", title: "Requests refused (429)", format: count }
      ],
      targets: [
        { figure: "ofFloor", variant: vitrine, atMost: 1.1 },
        { figure: "refused", variant: vitrine, atMost: 0 },
        { figure: "pages", variant: vitrine, atLeast: pages }
      ],
      together: true
    },
    {
      name: "attachments",
      note: `${files} attachments of ${pictures.bytes / 1024} KiB on ${pictures.records} records; plain download: \`node:http\` with connections that are kept, six at a time, each response piped into its file, which is not synced to the disk. Three runs.`,
      variants: (["vitrine", "download"] as const).map((peer) => ({
        label: peer === "vitrine" ? vitrine : download,
        runs: 3,
        run: () => attachments(peer, settings, withPictures)
      })),
      rows: [
        timeRow,
        cpuRow,
        memoryRow,
        { figure: "attachments", title: "Downloads", format: count },
        busyRow,
        { figure: "timeAgain", title: "Time, nothing changed", format: unit("ms", 0) },
        { figure: "shareAgain", title: "Time, nothing changed, of the first", format: ratio },
        { figure: "attachmentsAgain", title: "Downloads, nothing changed", format: count },
        { figure: "promotedAgain", title: "New versions, nothing changed", format: count }
      ],
      targets: [
        { figure: "time", variant: vitrine, of: download, atMost: 1.2 },
        { figure: "shareAgain", variant: vitrine, atMost: 0.1 },
        { figure: "attachmentsAgain", variant: vitrine, atMost: 0 },
        { figure: "promotedAgain", variant: vitrine, atMost: 0 }
      ]
    },
    {
      name: "edits",
      note: `From the edit of a table of ${edited.records} records to the event of the new version, ${edited.edits} edits at different times between two fetches. One run.`,
      variants: intervals.map((fetchEveryMs) => ({
        label: `every ${fetchEveryMs / 1000} s`,
        runs: 1,
        run: () =>
          edits(
            settings,
            { source: tablesFolder(["Objects"], edited.records), tables: ["Objects"], limited: true },
            { ...edited, fetchEveryMs }
          )
      })),
      rows: [
        { figure: "median", title: "Wait, median", format: unit("ms", 0) },
        { figure: "longest", title: "Wait, longest", format: unit("ms", 0) },
        { figure: "fetch", title: "Longest fetch", format: unit("ms", 0) },
        {
          figure: "beyond",
          title: "Longest wait beyond the interval and the longest fetch",
          format: unit("ms", 0)
        }
      ],
      targets: intervals.map((fetchEveryMs) => ({
        figure: "beyond",
        variant: `every ${fetchEveryMs / 1000} s`,
        atMost: 0
      }))
    },
    {
      name: "changes",
      note: `From the edit of one of three tables of ${changed.records} records to the event of the new version, ${changed.edits} edits at different times between two ticks, which come every second; and the calls of an hour, from those of ${changed.idleMs / 1000} s without edits and those that each edit adds. The server has the API's limit. One run.`,
      variants: [asked, "whole reads"].map((label) => ({
        label,
        runs: 1,
        run: () =>
          changes(
            settings,
            { source: tablesFolder(threeTables, changed.records), tables: threeTables, limited: true },
            { ...changed, asks: label === asked }
          )
      })),
      rows: [
        { figure: "median", title: "Wait, median", format: unit("ms", 0) },
        { figure: "longest", title: "Wait, longest", format: unit("ms", 0) },
        { figure: "fetch", title: "Longest fetch", format: unit("ms", 0) },
        { figure: "idleCalls", title: "Calls in an hour without edits", format: count },
        { figure: "editingCalls", title: "Calls in an hour with ten edits", format: count },
        { figure: "refused", title: "Requests refused (429)", format: count }
      ],
      targets: [
        { figure: "longest", variant: asked, atMost: 2000 },
        { figure: "idleCalls", variant: asked, atMost: 3600 },
        { figure: "refused", variant: asked, atMost: 0 }
      ]
    }
  ]
}
