/**
 * Texts from outside: a text that is twice as long takes about twice the time to read. Each reader runs in a process
 * of its own, which is ended if it does not.
 */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "@effect/vitest"
import { readers } from "../support/readers.ts"

/** Runs as TypeScript, with the source. */
const program = join(import.meta.dirname, "../support/timeReader.ts")

it.each(Object.keys(readers))("%s is read in time that is in proportion to its length", async (name) => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--import", "jiti/register", program, name],
    { timeout: 120_000 }
  )
  expect(Number(stdout), `the power of the length: ${stdout}`).toBeLessThan(1.5)
})
