import { existsSync } from "node:fs"

/**
 * Options of a temporary folder that lies in memory where the system has such a thing: for tests that end
 * before a disk would have synced what they write.
 */
export const inMemory = existsSync("/dev/shm") ? { directory: "/dev/shm" } : {}
