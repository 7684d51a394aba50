/**
 * The measurements of a venue, with their sizes and targets.
 */
import {
  count,
  type Part,
  percent,
  type Row,
  type Scenario,
  type Settings,
  type Target,
  unit,
  type Variant
} from "../scenario.ts"
import { crowd, replicas, rsync, screens, type VenuePlan } from "./measure.ts"

const told = "replicas, told"
const polls = "replicas, polling"
const inPlace = "rsync, in place"
const linked = "rsync --link-dest"
const durable = "rsync --link-dest --fsync"
const loops = "rsync, in place, in loops"

export const make = (quick: boolean, settings: Settings): Part => ({
  title: "Venue",
  method:
    "A hub and the machines that copy from it are controllers of the built command line, processes of their own on loopback and on one disk. rsync: a daemon that serves the folder that is edited, and a process for each pull, all started at once by one shell; `in place` into the folder that is shown, `--link-dest` into a new folder beside it, to which a link is moved then; in loops, each machine pulls by itself and waits 5 s after each pull. Bytes are those of the sockets in both directions, counted by proxies between the hub and each machine, through which rsync goes as well; time is to the rename of the last machine's manifest, or to the end of the last rsync. CPU is user and system time.",
  packages: ["effect"],
  scenarios: scenarios(quick, settings)
})

const milliseconds = unit("ms", 0)

const rows: ReadonlyArray<Row> = [
  { figure: "last", title: "Time to the last machine", format: milliseconds },
  { figure: "slowest", title: "The same, slowest change", format: milliseconds },
  { figure: "median", title: "Time to the median machine", format: milliseconds },
  { figure: "beyond", title: "Bytes of a machine beyond the file", format: unit("KiB", 1) },
  { figure: "ofChanged", title: "The same, of the file", format: percent(2) },
  { figure: "ofAll", title: "The same, of the version", format: percent(3) },
  { figure: "serverCpu", title: "CPU of the hub, or the daemon", format: milliseconds },
  { figure: "machineCpu", title: "CPU of a machine", format: milliseconds },
  { figure: "memory", title: "Peak memory of the hub", format: unit("MiB", 0) }
]

const ratios: ReadonlyArray<Target> = [inPlace, linked, durable].map((of) => ({
  figure: "last",
  variant: told,
  of
}))

const atOnce = (settings: Settings, plan: VenuePlan): ReadonlyArray<Variant> => [
  { label: told, runs: 1, run: () => replicas("changes", "told", settings, plan) },
  { label: inPlace, runs: 1, run: () => rsync("changes", "told", "in place", plan) },
  { label: linked, runs: 1, run: () => rsync("changes", "told", "link", plan) },
  { label: durable, runs: 1, run: () => rsync("changes", "told", "link", plan, ["--fsync"]) }
]
const mebibyte = 1024 * 1024

/** The processor time of both sides beside that of rsync, which writes each file once and keeps no digests. */
const costs = (of: string): ReadonlyArray<Target> => [
  { figure: "serverCpu", variant: told, of, atMost: 4 },
  { figure: "machineCpu", variant: told, of, atMost: 2 }
]

const scenarios = (quick: boolean, settings: Settings): ReadonlyArray<Scenario> => {
  const venue: VenuePlan = {
    content: { files: 500, bytes: 64 * mebibyte, changed: 1, changedBytes: mebibyte },
    machines: quick ? 4 : 40,
    changes: quick ? 2 : 5
  }
  const alone = { ...venue, machines: 1, changes: quick ? 2 : 20 }
  const newFiles = quick ? 200 : 2000
  const first: VenuePlan = {
    content: { files: 1, bytes: 500_000, changed: newFiles, changedBytes: 500_000 },
    machines: 1,
    changes: 1
  }
  const read: VenuePlan = {
    content: { files: 100, bytes: 6.25 * mebibyte, changed: 100, changedBytes: mebibyte / 16 },
    machines: 1,
    changes: quick ? 3 : 20
  }
  const thousand = {
    machines: 1000,
    processes: 4,
    restMs: quick ? 3000 : 15_000,
    durationMs: quick ? 5000 : 60_000
  }
  const all = { ...thousand, restMs: quick ? 12_000 : 60_000 }
  const wall = { everyMs: 20_000, restMs: quick ? 10_000 : 60_000, durationMs: quick ? 20_000 : 120_000 }
  return [
    {
      name: "venue",
      note: `A version of ${venue.content.files} files and 64 MiB on ${venue.machines} machines, of which one file of 1 MiB is changed ${venue.changes} times: medians of the changes of one run. Told: all machines are given the command \`content.fetch\` at once, and do not poll; polling: every 5 s or up to a fifth sooner, from the promotion at the hub.`,
      variants: [
        ...atOnce(settings, venue),
        { label: polls, runs: 1, run: () => replicas("changes", "polling", settings, venue) },
        { label: loops, runs: 1, run: () => rsync("changes", "polling", "in place", venue) }
      ],
      rows,
      targets: [
        ...ratios,
        { figure: "ofAll", variant: told, atMost: 0.01 },
        { figure: "ofChanged", variant: told },
        { figure: "last", variant: polls, of: loops, atMost: 1 },
        { figure: "last", variant: polls, atMost: 7000 }
      ]
    },
    {
      name: "machine",
      note: `The same on one machine, which has the processors to itself, and ${alone.changes} changes.`,
      variants: atOnce(settings, alone),
      rows,
      targets: ratios.map((ratio) => ({ ...ratio, atMost: 1 }))
    },
    {
      name: "copy",
      note: `${newFiles} new files of 500 kB, copied by one machine. One run.`,
      variants: atOnce(settings, first),
      rows: rows.filter(({ figure }) => !["slowest", "median", "ofAll"].includes(figure)),
      targets: [...costs(inPlace), ...costs(durable)]
    },
    {
      name: "whole",
      note: `${read.content.files} files of 64 KiB, all changed ${read.changes} times, on one machine, whose files are read without a pause. One run.`,
      variants: [
        { label: told, runs: 1, run: () => replicas("readings", "told", settings, read) },
        { label: inPlace, runs: 1, run: () => rsync("readings", "told", "in place", read) },
        { label: linked, runs: 1, run: () => rsync("readings", "told", "link", read) }
      ],
      rows: [
        { figure: "passes", title: "Passes over all files", format: count },
        { figure: "editions", title: "Editions seen", format: count },
        { figure: "mixed", title: "Passes with more than one edition", format: count },
        { figure: "failed", title: "Passes that failed", format: count }
      ],
      targets: [
        { figure: "mixed", variant: told, atMost: 0 },
        { figure: "failed", variant: told, atMost: 0 },
        { figure: "mixed", variant: inPlace }
      ]
    },
    {
      name: "polls",
      note: `${thousand.machines} machines that find nothing new, every 5 s or up to a fifth sooner; the code and the client of a replica, ${thousand.machines / thousand.processes} to a process, for ${thousand.durationMs / 1000} s. One run.`,
      variants: [{ label: "hub", runs: 1, run: () => crowd("pollers", settings, thousand) }],
      rows: [
        { figure: "share", title: "Processor in use", format: percent(1) },
        { figure: "rate", title: "Polls per second", format: count },
        { figure: "cpu", title: "CPU of a poll", format: unit("µs", 0) },
        { figure: "failed", title: "Polls that failed", format: count },
        { figure: "memory", title: "Peak memory", format: unit("MiB", 0) }
      ],
      targets: [
        { figure: "failed", variant: "hub", atMost: 0 },
        { figure: "share", variant: "hub" }
      ]
    },
    {
      name: "reports",
      note: `${all.machines} players that report every 10 s or up to a fifth sooner, each with four screens and one problem; the code and the client of a replica, ${all.machines / all.processes} to a process, for ${all.durationMs / 1000} s from ${all.restMs / 1000} s after the start. Beside the same hub without them. One run.`,
      variants: [
        { label: "without", runs: 1, run: () => crowd("reporters", settings, { ...all, machines: 0 }) },
        { label: "reports", runs: 1, run: () => crowd("reporters", settings, all) }
      ],
      rows: [
        { figure: "share", title: "Processor in use", format: percent(1) },
        { figure: "rate", title: "Reports per second", format: count },
        { figure: "cpu", title: "CPU of the hub for a report", format: unit("µs", 0) },
        { figure: "failed", title: "Reports that were not taken", format: count },
        { figure: "memory", title: "Peak memory", format: unit("MiB", 0) }
      ],
      targets: [
        { figure: "failed", variant: "reports", atMost: 0 },
        { figure: "share", variant: "reports", atMost: 0.08 },
        { figure: "memory", variant: "reports" },
        { figure: "memory", variant: "without" }
      ]
    },
    {
      name: "screens",
      note: `Screens of one controller that ack every ${wall.everyMs / 1000} s, for ${wall.durationMs / 1000} s from ${wall.restMs / 1000} s after the start. All runs at the same time.`,
      together: true,
      variants: [60, 240].map((count) => ({
        label: `${count} screens`,
        runs: quick ? 1 : 2,
        run: () => screens(settings, { ...wall, screens: count })
      })),
      rows: [
        { figure: "share", title: "Processor in use", format: percent(2) },
        { figure: "cpu", title: "CPU for an ack", format: unit("µs", 0) },
        { figure: "failed", title: "Acks that failed", format: count }
      ],
      targets: [
        { figure: "share", variant: "240 screens", of: "60 screens", atMost: 4.5 },
        { figure: "failed", variant: "240 screens", atMost: 0 }
      ]
    }
  ]
}
