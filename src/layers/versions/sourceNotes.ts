/**
 * The notes about the sources of a downloads folder: since when they fail, and their options. The notes outlive restarts.
 */
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readPlainText } from "../../files/readPlainText.ts"
import { defined, optional, timestamp } from "../../internal/schemas.ts"
import { activeIn, keptIn, type VersionStore } from "../../services/VersionStore.ts"
import { latestOf } from "./ManifestFile.ts"

export const SourceNote = Schema.Struct({
  sourceId: Schema.String,
  /** As in `ContentSource`, for the content in the latest version. */
  options: optional(Schema.String),
  /** When the first of its latest failures in a row happened; missing if it works. */
  failingSince: optional(timestamp)
})
export type SourceNote = typeof SourceNote.Type

export const fileIn = (directory: string): string => join(directory, ".sources.json")

interface Listed {
  readonly sourceId: string
  readonly keptSince?: string | undefined
}

const decode = Schema.decode(Schema.parseJson(Schema.Array(SourceNote)))

/**
 * Gives since when the content of a source in this version is old; `undefined` if it is not old. For the latest version,
 * the notes count: a source may work again with the same content, which makes no new version. For older versions and
 * copies, their own lists count.
 */
export const oldSince = (
  { directory, manifest }: VersionStore["Type"],
  versionId: string
): Effect.Effect<(source: Listed) => string | undefined> =>
  Effect.gen(function* () {
    const isLatest = Option.exists(activeIn(yield* manifest), (active) => latestOf(active) === versionId)
    const notes = isLatest ? yield* Effect.flatMap(readPlainText(fileIn(directory)), decode) : []
    const known = new Map(notes.map((note) => [note.sourceId, note]))
    return ({ keptSince, sourceId }: Listed) => {
      const note = known.get(sourceId)
      return note === undefined ? keptSince : note.failingSince
    }
  }).pipe(
    Effect.orElseSucceed(
      () =>
        ({ keptSince }: Listed) =>
          keptSince
    )
  )

/** The sources of this version whose content is old, as a field; no field if there are none. */
export const oldIn = (store: VersionStore["Type"], versionId: string, sources: ReadonlyArray<Listed>) =>
  Effect.map(oldSince(store, versionId), (since) =>
    keptIn(sources.map((source) => ({ sourceId: source.sourceId, ...defined({ keptSince: since(source) }) })))
  )
