/**
 * Whether a process runs.
 */
import { readFileSync } from "node:fs"

/** One that has ended does not run any more, even if nobody has asked yet how it ended. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    // Somebody else's process cannot be signalled, and runs.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/** Only Linux tells in a file. In containers, where the first process does not look after others, they stay for good. */
const isZombie = (pid: number): boolean => {
  try {
    return /^.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, "latin1"))
  } catch {
    return false
  }
}
