/**
 * Folders of tables to serve, and folders to save them in. All are in one folder, which is removed at the end.
 */
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

let place: string | undefined

export const newFolder = (): string => {
  place ??= mkdtempSync(join(tmpdir(), "vitrine-bench-"))
  return mkdtempSync(join(place, "folder-"))
}

export const removeFolders = () => {
  if (place !== undefined) {
    rmSync(place, { recursive: true, force: true })
    place = undefined
  }
}

/** Runs with a new empty folder, and removes it. */
export const withFolder = async <A>(run: (directory: string) => Promise<A>): Promise<A> => {
  const directory = newFolder()
  try {
    return await run(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Makes a folder at the first call, and returns the same folder later. */
const once = (make: (directory: string) => void): (() => string) => {
  let made: string | undefined
  return () => {
    if (made === undefined) {
      made = newFolder()
      make(made)
    }
    return made
  }
}

/** A folder with tables `Objects`, `Rooms`, … with this many records of 20 fields. */
export const tablesFolder = (tables: ReadonlyArray<string>, records: number) =>
  once((directory) => {
    for (const table of tables) {
      const path = join(directory, `${table}.json`)
      writeTable(path, records)
      age(path)
    }
  })

/** Written record by record, because memory of this process would count as memory of the peers that it starts. */
const writeTable = (path: string, records: number, edition = 0) => {
  const file = openSync(path, "w")
  writeSync(file, '{"records":[')
  for (let index = 0; index < records; index++) {
    const record = JSON.stringify({ id: recordId(index), fields: fields(index + edition) })
    writeSync(file, `${index === 0 ? "" : ","}\n${record}`)
  }
  writeSync(file, "\n]}\n")
  closeSync(file)
}

/** Replaces a table by a table with only new records. */
export const editTable = (directory: string, table: string, records: number, edition: number) => {
  const scratch = join(directory, ".edited")
  writeTable(scratch, records, edition)
  renameSync(scratch, join(directory, `${table}.json`))
}

/** Waits, because the server reads a file again if it was written a moment before. */
const age = (path: string) => utimesSync(path, 1e9, 1e9)

const recordId = (index: number): string => `rec${index.toString(36).padStart(14, "0")}`

const pick = <A>(values: ReadonlyArray<A>, index: number): A | undefined => values[index % values.length]

/** About 1 KiB of JSON, 20 fields of the kinds that tables of exhibits have, in no order. */
const fields = (index: number): Readonly<Record<string, unknown>> => ({
  Title: `Object no. ${index}, with a title of usual length`,
  "Inventory number": `INV-${index.toString().padStart(8, "0")}/a`,
  Description:
    "Ein Gefäß aus Ton, um 1890; said to be “a gift of the maker”. The glaze is cracked at the rim, the handle was mended twice.",
  Year: 1700 + (index % 320),
  Published: true,
  Notes: `First line\nSecond line with a "quote" and a \\ backslash\nSeen ${index} times`,
  Tags: ["ceramics", pick(["daily life", "workshop", "trade"], index), "permanent"],
  Room: [recordId(index % 40)],
  Weight: index / 8,
  Width: (index % 500) + 0.5,
  Height: (index % 300) + 0.25,
  Depth: (index % 200) + 0.125,
  Material: pick(["clay", "glass", "bronze", "linen"], index),
  Artist: pick(["unknown", "A. Müller", "Studio 12"], index),
  Acquired: `20${(index % 24).toString().padStart(2, "0")}-03-17`,
  "Last change": "2024-05-01T10:20:30.000Z",
  Responsible: { email: "someone@museum.example", id: "usr00000000000001", name: "Someone" },
  Link: `https://museum.example/objects/${index}`,
  Latitude: 48.1 + (index % 1000) / 10_000,
  Rating: index % 6
})

export interface AttachmentsPlan {
  readonly records: number
  readonly perRecord: number
  readonly bytes: number
}

/** A folder with a table `Objects` whose records have files as attachments. */
export const attachmentsFolder = ({ bytes, perRecord, records }: AttachmentsPlan) =>
  once((directory) => {
    mkdirSync(join(directory, "pictures"))
    const content = Buffer.alloc(bytes)
    const rows = Array.from({ length: records }, (_, record) => ({
      id: recordId(record),
      fields: {
        Title: `Object no. ${record}`,
        Pictures: Array.from({ length: perRecord }, (_, picture) => {
          const file = `pictures/${record}-${picture}.jpg`
          content.fill(`\0${file} `)
          writeFileSync(join(directory, file), content)
          age(join(directory, file))
          return { file }
        })
      }
    }))
    writeFileSync(join(directory, "Objects.json"), JSON.stringify({ records: rows }))
    age(join(directory, "Objects.json"))
  })
