/**
 * What is different in saved tables.
 *
 * Of the records of a table, only ids and digests are held, and one record at a time.
 */
import { createHash } from "node:crypto"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { fileName } from "../../../internal/FileName.ts"
import { explain } from "../../../internal/systemError.ts"
import type { DocumentChanges } from "../../../services/ContentCheck.ts"
import type { FetchTarget } from "../../../services/ContentSource.ts"
import type { AttachmentCells } from "./AttachmentCells.ts"
import { TableNotSaved } from "./NotSaved.ts"
import { readSaved } from "./readSaved.ts"
import type { CheckedTable } from "./TableCheck.ts"

/** What would change in a table, if what was fetched into the directory is another version. */
export const compareTable = Effect.fnUntraced(function* (
  { holds, table }: Pick<CheckedTable, "holds" | "table">,
  { directory, previous }: Pick<FetchTarget, "directory" | "previous">,
  cells: AttachmentCells
) {
  const path = yield* Path.Path
  const name = `${fileName(table)}.json`
  const digestsIn = (folder: string) =>
    readSaved(path.join(folder, name), holds).pipe(
      Stream.runFold(new Map<string, string>(), (digests, [id, value]) =>
        digests.set(id, digestOf(value, cells))
      ),
      Effect.mapError(
        (cause) =>
          new TableNotSaved({
            table,
            detail: `cannot read ${name}: ${cause._tag === "ParseError" ? cause.message : explain(cause)}`,
            cause
          })
      )
    )
  const after = yield* digestsIn(directory)
  const before = yield* Option.match(
    Option.filter(previous, ({ files }) => Object.hasOwn(files, name)),
    {
      onNone: () => Effect.succeed(new Map<string, string>()),
      onSome: ({ directory }) => digestsIn(directory)
    }
  )
  const kept = [...after].filter(([id]) => before.has(id))
  return {
    document: table,
    path: name,
    records: after.size,
    added: after.size - kept.length,
    changed: kept.filter(([id, digest]) => before.get(id) !== digest).length,
    removed: before.size - kept.length
  } satisfies DocumentChanges
})

const digestOf = (value: unknown, cells: AttachmentCells): string =>
  createHash("sha256")
    .update(JSON.stringify(cells.withoutVolatileParts(value)))
    .digest("base64")
