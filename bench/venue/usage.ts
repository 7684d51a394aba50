/**
 * The resources that processes use, as Linux counts them.
 */
import { readFileSync } from "node:fs"

/** The unit of the kernel's counters, the same on all machines. */
const ticksPerSecond = 100

/** The columns of `/proc/PID/stat` after the name of the program. */
const columnsOf = (pid: number | "self"): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")
    .map(Number)

const milliseconds = (pid: number | "self", columns: ReadonlyArray<number>) => {
  const values = columnsOf(pid)
  return (columns.reduce((sum, column) => sum + (values[column] ?? 0), 0) / ticksPerSecond) * 1000
}

/** User and system time of a process, in milliseconds. */
export const cpuOf = (pid: number): number => milliseconds(pid, [11, 12])

/** As above, with the children of the process that have ended. */
export const cpuOfAll = (pid: number): number => milliseconds(pid, [11, 12, 13, 14])

/** User and system time of the children of this process that have ended, in milliseconds. */
export const cpuOfChildren = (): number => milliseconds("self", [13, 14])

/** The most memory that was resident in a process, in MiB. */
export const peakMemoryOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024
