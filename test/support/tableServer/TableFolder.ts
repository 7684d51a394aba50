/**
 * A folder of tables on disk.
 *
 * Each `*.csv` and `*.json` file is a table named after the file without its extension, `views.json` and
 * hidden files excepted. A file name may be percent-encoded as in a URL, so that `In%2FOut.csv` is the table
 * `In/Out`. The folder is read again for each request, so that edited, renamed and added files show.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { makeWarnOnce } from "../../../src/internal/warnOnce.ts"
import * as FileCache from "./FileCache.ts"
import { InvalidTableFile } from "./FileCache.ts"
import { tableId } from "./identifiers.ts"
import { parseCsv } from "./parseCsv.ts"
import { parseJson } from "./parseJson.ts"
import { makeTable, type Table } from "./Table.ts"
import { TableFolderError } from "./TableServerService.ts"
import { parseViews, type Views } from "./Views.ts"

export interface TableFolder {
  /** Absolute path. */
  readonly directory: string

  /** The names of the tables there are now, sorted. */
  readonly names: Effect.Effect<ReadonlyArray<string>, TableFolderError>

  /** The table of that name or id as its file is now, if there is one. */
  readonly find: (
    nameOrId: string
  ) => Effect.Effect<Option.Option<Table>, InvalidTableFile | TableFolderError>

  /** What `views.json` declares now; nothing without that file. */
  readonly views: Effect.Effect<Views, InvalidTableFile | TableFolderError>
}

const viewsFile = "views.json"

export const make = (
  relativeDirectory: string
): Effect.Effect<TableFolder, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const directory = path.resolve(relativeDirectory)
    const tables = yield* FileCache.makeOfText(directory, (file, text) => {
      const { ext, name } = path.parse(file)
      const parse = ext.toLowerCase() === ".csv" ? parseCsv : parseJson
      return Either.map(parse(file, text), (content) => makeTable(tableName(name), content))
    })
    const declaredViews = yield* FileCache.makeOfText(directory, parseViews)
    const warnOnce = makeWarnOnce((problem) => problem)

    const entries = Effect.mapError(
      fs.readDirectory(directory),
      (cause) => new TableFolderError({ directory, detail: advice(cause), cause })
    )

    /** The files of each table by its name. */
    const files = Effect.map(entries, (names) => {
      const byTable = new Map<string, ReadonlyArray<string>>()
      for (const file of names.toSorted()) {
        const { ext, name } = path.parse(file)
        if (file.startsWith(".") || file === viewsFile || !/^\.(csv|json)$/i.test(ext)) continue
        const table = tableName(name)
        byTable.set(table, [...(byTable.get(table) ?? []), file])
      }
      return byTable
    })

    const find = Effect.fn("TableFolder.find")(function* (nameOrId: string) {
      const byTable = yield* files
      const wanted = nameOrId.normalize()
      const name = byTable.has(wanted)
        ? wanted
        : [...byTable.keys()].find((table) => tableId(table) === nameOrId)
      const [file, ...others] = name === undefined ? [] : (byTable.get(name) ?? [])
      if (file === undefined) {
        return Option.none()
      }
      if (others.length > 0) {
        const error = new InvalidTableFile({
          file: [file, ...others].join(" and "),
          problem: `each would be the table ${JSON.stringify(name)}. Rename or remove all but one.`
        })
        yield* warnOnce(error.message)
        return yield* error
      }
      return Option.some(yield* tables(file))
    })

    const views = Effect.gen(function* () {
      const present = yield* entries
      return present.includes(viewsFile) ? yield* declaredViews(viewsFile) : {}
    })

    return { directory, names: Effect.map(files, (byTable) => [...byTable.keys()].toSorted()), find, views }
  })

/** Composed Unicode, whatever form the file system keeps names in. */
const tableName = (fileName: string): string =>
  Option.liftThrowable(decodeURIComponent)(fileName).pipe(
    Option.getOrElse(() => fileName),
    (name) => name.normalize()
  )

const advice = (error: PlatformError): string => {
  if (error._tag === "SystemError") {
    switch (error.reason) {
      case "NotFound":
        return "there is no such folder."
      case "PermissionDenied":
        return "this user may not read it."
      case "BadResource":
        return "it is not a folder."
    }
  }
  return error.message
}
