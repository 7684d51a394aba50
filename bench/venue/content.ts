/**
 * The files that a hub has, and their changes.
 */
import { randomBytes } from "node:crypto"
import { closeSync, mkdirSync, openSync, readSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface ContentPlan {
  readonly files: number
  /** Of all files. */
  readonly bytes: number
  /** The size of the changed files; all others share the rest. */
  readonly changedBytes: number
  /** How many files are changed at once. */
  readonly changed: number
}

/** The beginning of every file: the number of its edition. */
const editionBytes = 8

const buffer = Buffer.alloc(editionBytes)

/** The first bytes of a file: the number of its edition. */
export const editionOf = (file: string): number => {
  const fd = openSync(file, "r")
  const length = readSync(fd, buffer)
  closeSync(fd)
  return Number(buffer.toString("latin1", 0, length))
}

const nameOf = (index: number) => `picture ${String(index).padStart(4, "0")}.jpg`

/** A file that each edition changes. */
export const changedFile = nameOf(0)

/** Writes the files that an edition changes; the first edition writes all files. */
export const writeEdition = (folder: string, edition: number, plan: ContentPlan) => {
  const { bytes, changed, changedBytes, files } = plan
  mkdirSync(folder, { recursive: true })
  const otherBytes = Math.floor((bytes - changed * changedBytes) / (files - changed))
  for (let index = 0; index < (edition === 1 ? files : changed); index++) {
    const content = randomBytes(index < changed ? changedBytes : otherBytes)
    content.write(String(edition).padStart(editionBytes, "0"), "latin1")
    writeFileSync(join(folder, nameOf(index)), content)
  }
}
