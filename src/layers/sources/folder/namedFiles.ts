/**
 * Cells of documents that contain paths of files in the folder: `photos/bell.jpg`.
 *
 * A cell is such a path if it has no scheme and the extension of a file that pages display. It is replaced by the
 * file's path in the version, which has composed letters. If there is no such file, there is a warning. This module
 * does not know the purpose of cells.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { closestName } from "../../../internal/closestName.ts"
import type { MistakePlace } from "../../../internal/mistakeParts.ts"
import { makeGiveWay } from "../../../internal/nextTurn.ts"
import { excerpt } from "../../../internal/printable.ts"
import type { Warning } from "../../../services/Warning.ts"
import { mapParts } from "../../documents/jsonValues.ts"
import { decode, isElsewhere } from "../../documents/media/links.ts"
import { isShownType } from "../../documents/media/mediaTypes.ts"
import * as PathPattern from "../../documents/media/PathPattern.ts"
import { bare, visible } from "../../documents/names.ts"
import { notice, placed, warn } from "../../documents/warnings.ts"

/** The existing files. */
export interface NamedFiles {
  /** The path of the file in a cell; `undefined` if there is no such file. */
  readonly find: (cell: string) => string | undefined
  /** The files that records name, so far. */
  readonly named: Set<string>
  /** A similar path. */
  readonly similar: (cell: string) => string | undefined
}

export const makeNamedFiles = (paths: ReadonlyArray<string>): NamedFiles => {
  const all = new Set(paths)
  const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1).toLowerCase()
  return {
    named: new Set(),
    find: (cell) => {
      const path = pathOf(cell)
      return all.has(path) ? path : undefined
    },
    similar: (cell) => {
      const written = cell.replaceAll("\\", "/").replace(/[?#].*/s, "")
      const path = pathOf(Option.getOrElse(decode(written), () => written))
      const name = nameOf(path)
      return (
        paths.find((other) => other.toLowerCase() === path.toLowerCase()) ??
        paths.find((other) => nameOf(other) === name) ??
        // The next photograph of a camera is another one.
        closestName(
          path,
          paths.filter((other) => numbered(other) !== numbered(path)),
          1 / 4
        )
      )
    }
  }
}

const numbered = (path: string): string => path.replace(/\d+/g, "0")

/** The path as in a version. Some programs put quotes around it. */
const pathOf = (cell: string): string => unquoted(bare(cell)).normalize().replace(/^\.\//, "")

const unquoted = (text: string): string => text.replace(/^"(.*)"$/, "$1")

const maxLength = 1024
const scheme = /^(?:[a-z][a-z0-9+.-]+:|\/\/)/i
/** Whether a text looks like the path of a file. */
const namesFile = (cell: string): boolean =>
  // Most cells have no dot, and need no regular expression.
  cell.includes(".") &&
  cell.length <= maxLength &&
  !scheme.test(cell) &&
  !isElsewhere(cell) &&
  // The warning names several files in a cell as one missing file.
  bare(cell)
    .split(/[\r\n\v]+/)
    .every((line) => isShownType(unquoted(visible(line).replace(/[,;|]$/, "")).replace(/[?#]\S*$/, "")))

/** The most listed files. */
const maxListed = 10

/**
 * Returns the value with cells replaced by the paths of their files, and cells at `pictures` by objects with a
 * `localPath`. Warns about the first ten cells whose files are missing, except in fields that another part checks
 * (`isSaid`). `place` is the place of a record by its number from 0; the document has none.
 */
export const nameFiles = Effect.fnUntraced(function* (
  value: unknown,
  files: NamedFiles,
  pictures: ReadonlyArray<PathPattern.PathPattern>,
  isSaid: (field: string) => boolean,
  place: (record?: number) => MistakePlace
) {
  const missing: Array<Warning> = []
  let count = 0
  const giveWay = makeGiveWay()

  const visitCell = (file: string, path: ReadonlyArray<string>, record: number | undefined): unknown => {
    const isPicture = pictures.some((pattern) => PathPattern.matches(pattern, path))
    if (!(isPicture || namesFile(file)) || file.trim() === "") return file
    const found = files.find(file)
    if (found !== undefined) {
      files.named.add(found)
      return isPicture ? { localPath: found } : found
    }
    if (scheme.test(file) || isSaid(path[0] ?? "")) return file
    count += 1
    if (missing.length < maxListed) {
      const field = PathPattern.format(path)
      const at = { ...place(record), field: excerpt(field) }
      missing.push(placed(at)(warn("file:missing", field, { file, similar: files.similar(file) })))
    }
    return file
  }

  const visit = (value: unknown, path: ReadonlyArray<string>, record?: number): unknown =>
    Predicate.isString(value)
      ? visitCell(value, path, record)
      : mapParts(value, (part, name) => visit(part, [...path, name], record))

  const records: unknown[] = []
  for (const [index, record] of Array.isArray(value) ? value.entries() : []) {
    records.push(visit(record, [], index))
    yield* giveWay
  }
  const named = Array.isArray(value) ? records : visit(value, [])
  yield* notice(missing)
  if (count > missing.length) {
    yield* notice([placed({ name: place().name })(warn("file:more", "", { count: count - missing.length }))])
  }
  return named
})
