/**
 * The CSV files of a folder as tables of the hosted API. A column whose header ends in ` (attachments)` names files of the folder,
 * one a line. `views.json` has filters by table and view: `{ "Objects": { "In hall 2": { "filter": { "room": "2" } } } }`.
 */
import { createHash } from "node:crypto"
import { readdir, readFile, stat } from "node:fs/promises"
import { basename, join } from "node:path"
import { parse } from "csv-parse/sync"
import mime from "mime"

interface Attachment {
  readonly id: string
  /** The path in the folder. */
  readonly file: string
  readonly filename: string
  readonly size: number
  readonly type: string
}

export interface Table {
  readonly id: string
  readonly name: string
  readonly fields: ReadonlyArray<{ readonly id: string; readonly name: string; readonly type: string }>
  readonly records: ReadonlyArray<{
    readonly id: string
    readonly createdTime: string
    readonly fields: Readonly<Record<string, string | ReadonlyArray<Attachment>>>
  }>
}

type ByName<A> = Readonly<Record<string, A>>

interface View {
  readonly filter?: ByName<string>
}

/** The view that every table has. */
const everything = "Grid view"

const suffix = " (attachments)"

/** An id that is the same for the same parts, at every start. */
export const identifier = (prefix: string, ...parts: ReadonlyArray<unknown>) =>
  prefix + createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 14)

export const tableId = (name: string) => identifier("tbl", name)

export const readTables = async (directory: string): Promise<ReadonlyArray<Table>> => {
  const files = await readdir(directory)
  return Promise.all(
    files
      .filter((file) => file.endsWith(".csv"))
      .sort()
      .map((file) => readTable(directory, basename(file, ".csv")))
  )
}

const readTable = async (directory: string, name: string): Promise<Table> => {
  const text = await readFile(join(directory, `${name}.csv`), "utf8")
  const delimiter = /^[^,\n]*;/.test(text) ? ";" : ","
  const [header = [], ...rows]: ReadonlyArray<ReadonlyArray<string>> = parse(text, {
    bom: true,
    delimiter,
    skip_empty_lines: true
  })
  const columns = header.map((title) => ({
    name: title.replace(suffix, ""),
    isAttachments: title.endsWith(suffix)
  }))
  const seen = new Map<string, number>()
  const records = rows.map(async (cells) => {
    // Messages name records by their ids, so that the row is found in the CSV file.
    const key = (cells[0] ?? "").replace(/[^\w-]/g, "")
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    const fields = columns.map(async ({ isAttachments, name }, index) => {
      const cell = cells[index] ?? ""
      return [name, isAttachments ? await readAttachments(directory, cell) : cell] as const
    })
    return {
      id: `rec${key}${count === 1 ? "" : `-${count}`}`,
      createdTime: "2000-01-01T00:00:00.000Z",
      // As the API does, which leaves out empty cells.
      fields: Object.fromEntries((await Promise.all(fields)).filter(([, cell]) => cell.length > 0))
    }
  })
  return {
    id: tableId(name),
    name,
    fields: columns.map((column) => ({
      id: identifier("fld", name, column.name),
      name: column.name,
      type: column.isAttachments ? "multipleAttachments" : "singleLineText"
    })),
    records: await Promise.all(records)
  }
}

const readAttachments = (directory: string, cell: string): Promise<ReadonlyArray<Attachment>> =>
  Promise.all(
    cell
      .split(/[\r\n]+/)
      .filter((line) => line.trim() !== "")
      .map(async (line) => {
        const file = line.trim()
        const { mtimeMs, size } = await stat(join(directory, file))
        return {
          id: identifier("att", file, size, mtimeMs),
          file,
          filename: basename(file),
          size,
          type: mime.getType(file) ?? "application/octet-stream"
        }
      })
  )

/** The records of a view; nothing if there is no such view. */
export const recordsOf = async (directory: string, { name, records }: Table, view: string | null) => {
  const file = await readFile(join(directory, "views.json"), "utf8").catch(() => "{}")
  const views = (JSON.parse(file) as ByName<ByName<View>>)[name] ?? {}
  const found: View | undefined = view === null || view === everything ? {} : views[view]
  const cells = Object.entries(found?.filter ?? {})
  return found && records.filter(({ fields }) => cells.every(([field, cell]) => fields[field] === cell))
}
