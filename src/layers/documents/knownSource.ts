/**
 * Remembers the versions of a source that were read here.
 */
import { createHash } from "node:crypto"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { PreviousContent } from "../../services/ContentSource.ts"
import type { MediaIndex } from "./media/MediaIndex.ts"

/** A version of a source, as it was read. */
interface ReadSource {
  readonly fingerprint: string
  /** The names of documents that have become empty: they are, and had records in a version before. */
  readonly emptied: ReadonlySet<string>
  /** What is known of its linked files, which is newer than what is on disk: servers gave them other tags since. */
  readonly index: MediaIndex
  /** What is wrong with its pictures. */
  readonly flaws: ReadonlyArray<string>
}

/** What is known of the version before; nothing where that was not read here. */
export interface KnownSource {
  readonly latest: Option.Option<ReadSource>
  /** Remembers what was read now, beside the version before: it may not become a version. */
  readonly add: (read: ReadSource) => Effect.Effect<void>
}

/** Gives what is known of the version before. */
export const makeKnownSource = Effect.map(
  Ref.make<ReadonlyArray<ReadSource>>([]),
  (reads) =>
    (previous: Option.Option<PreviousContent>): Effect.Effect<KnownSource> =>
      Effect.map(Ref.get(reads), (all) => {
        const latest = Option.flatMap(previous, (previous) =>
          Array.findFirst(all, ({ fingerprint }) => Option.contains(previous.fingerprint, fingerprint))
        )
        return {
          latest,
          add: (read) =>
            Ref.set(reads, [
              read,
              ...Option.toArray(latest).filter(({ fingerprint }) => fingerprint !== read.fingerprint)
            ])
        }
      })
)

/** The fingerprint of files, each with the digest of what is in it, in whatever order they were written. */
export const fingerprint = (
  files: ReadonlyArray<{ readonly name: string; readonly digest: string }>
): string =>
  createHash("sha256")
    .update(JSON.stringify(files.map(({ digest, name }) => [name, digest].join("/")).sort()))
    .digest("hex")
