/**
 * Remembers the versions of a source that this process has read.
 */
import { createHash } from "node:crypto"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { PreviousContent } from "../../services/ContentSource.ts"
import type { MediaIndex } from "./media/MediaDownload.ts"

/** A version of a source, as it was read. */
interface ReadSource {
  readonly fingerprint: string
  /** The documents that have become empty: they had records in an earlier version. */
  readonly emptied: ReadonlySet<string>
  /**
   * The index of its linked files. It is newer than the index on disk, because servers may have sent new tags since.
   */
  readonly index: MediaIndex
  /** Warnings about its pictures. */
  readonly flaws: ReadonlyArray<string>
}

/** The remembered state of the last version; `None` if this process has not read it. */
export interface KnownSource {
  readonly latest: Option.Option<ReadSource>
  /** Remembers the current read, beside the last version, because the current read may not become a version. */
  readonly add: (read: ReadSource) => Effect.Effect<void>
}

/** Returns the remembered state of the last version. */
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

/** The fingerprint of files from the digests of their contents, independent of their order. */
export const fingerprint = (
  files: ReadonlyArray<{ readonly name: string; readonly digest: string }>
): string =>
  createHash("sha256")
    .update(JSON.stringify(files.map(({ digest, name }) => [name, digest].join("/")).sort()))
    .digest("hex")
