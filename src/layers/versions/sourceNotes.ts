/**
 * The notes about the sources of a downloads folder: since when they fail, and their options. The notes outlive restarts.
 */
import { join } from "node:path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { readPlainText } from "../../files/readPlainText.ts"
import { optional, timestamp } from "../../internal/schemas.ts"
import type { ContentState } from "../../services/Slices.ts"
import type { KeptSource, VersionStore } from "../../services/VersionStore.ts"
import { activeIn, latestOf } from "./ManifestFile.ts"

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

/** The notes by the ids of their sources. */
export type SourceNotes = ReadonlyMap<string, SourceNote>

export const bySource = (notes: ReadonlyArray<SourceNote>): SourceNotes =>
  new Map(notes.map((note) => [note.sourceId, note]))

const noNotes: SourceNotes = new Map()

/**
 * Since when the content of a source is old; `undefined` if it is not old. The notes count before the list of the version: a
 * source may work again with the same content, which makes no new version.
 */
const oldBy =
  (notes: SourceNotes) =>
  ({ keptSince, sourceId }: Listed): string | undefined => {
    const note = notes.get(sourceId)
    return note === undefined ? keptSince : note.failingSince
  }

const kept = (
  sources: ReadonlyArray<Listed>,
  sinceOf: ReturnType<typeof oldBy>
): { readonly kept: ReadonlyArray<KeptSource> | undefined } => {
  const kept = sources.flatMap((source) => {
    const since = sinceOf(source)
    return since === undefined ? [] : [{ sourceId: source.sourceId, since }]
  })
  return { kept: kept.length === 0 ? undefined : kept }
}

/**
 * Gives since when the content of a source in this version is old. The notes are about the latest version. For older
 * versions and copies, their own lists count.
 */
export const oldSince = (
  { directory, manifest }: VersionStore["Type"],
  versionId: string
): Effect.Effect<ReturnType<typeof oldBy>> =>
  Effect.gen(function* () {
    const isLatest = Option.exists(activeIn(yield* manifest), (active) => latestOf(active) === versionId)
    return oldBy(
      isLatest ? bySource(yield* Effect.flatMap(readPlainText(fileIn(directory)), decode)) : noNotes
    )
  }).pipe(Effect.orElseSucceed(() => oldBy(noNotes)))

/** The sources of this version whose content is old, as a field; no field if there are none. */
export const oldIn = (store: VersionStore["Type"], versionId: string, sources: ReadonlyArray<Listed>) =>
  Effect.map(oldSince(store, versionId), (since) => kept(sources, since))

/** As `oldIn`, for the active version, from memory: its list is read once, and the writer of the notes has them. */
export const makeOldInActive = (
  { summarize }: VersionStore["Type"],
  notes: Effect.Effect<SourceNotes> = Effect.succeed(noNotes)
) => {
  const listed = Ref.unsafeMake({ versionId: "", sources: Array.empty<Listed>() })
  return ({ held, versionId }: Pick<ContentState, "held" | "versionId">) =>
    Effect.gen(function* () {
      if (versionId === undefined) return {}
      if (versionId !== (yield* Ref.get(listed)).versionId) {
        const { sources } = yield* Effect.flatten(summarize(versionId))
        yield* Ref.set(listed, { versionId, sources: [...sources] })
      }
      const isLatest = (held?.waiting ?? versionId) === versionId
      return kept((yield* Ref.get(listed)).sources, oldBy(isLatest ? yield* notes : noNotes))
    }).pipe(Effect.orElseSucceed(() => ({})))
}
