/**
 * What the documents of a version came to when they were read, so that those that have not changed can be taken over from it.
 */
import { createHash } from "node:crypto"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import type { PreviousContent } from "../../services/ContentSource.ts"
import type { DocumentFile, Holds } from "./documentFile.ts"
import type { Verdict } from "./expect/TableCheck.ts"
import type { MediaIndex } from "./media/MediaIndex.ts"
import type { WantedFile } from "./media/WantedFile.ts"

/** A document that was read. */
export interface KnownDocument {
  readonly document: string
  /** The name of its file. */
  readonly name: string
  /** Equal for equal content, whatever is volatile in it. */
  readonly digest: string
  readonly records: number
  readonly holds: Holds
  /** Whether it has become empty: it is, and had records in a version before. */
  readonly isEmptied: boolean
  readonly warnings: ReadonlyArray<string>
  readonly verdict: Verdict
  /** Files whose places are known. */
  readonly attached: ReadonlyArray<WantedFile>
}

/** What was read of a source. */
interface ReadSource {
  readonly fingerprint: string
  /** In the order in which they were read. */
  readonly documents: ReadonlyArray<KnownDocument>
  /** What is known of its linked files, which is newer than what is on disk: servers gave them other tags since. */
  readonly index: MediaIndex
  /** What is wrong with its pictures. */
  readonly flaws: ReadonlyArray<string>
}

/** A document that is in the version before. */
export interface FoundDocument {
  readonly known: KnownDocument
  readonly file: DocumentFile
  /** The folder that it is in. */
  readonly directory: string
}

/** What is known of the version before; nothing where that was not read here. */
export interface KnownDocuments {
  readonly latest: Option.Option<ReadSource>
  readonly find: (document: string) => Option.Option<FoundDocument>
  /** Whether a document of the version before has become empty. */
  readonly wasEmptied: (document: string) => boolean
  /** Remembers what was read now, beside the version before: it may not become a version. */
  readonly add: (read: ReadSource) => Effect.Effect<void>
}

/** Gives what is known of the version before. */
export const makeKnownDocuments = Effect.map(
  Ref.make<ReadonlyArray<ReadSource>>([]),
  (reads) =>
    (previous: Option.Option<PreviousContent>): Effect.Effect<KnownDocuments> =>
      Effect.map(Ref.get(reads), (all) => {
        const latest = Option.flatMap(previous, (previous) =>
          Array.findFirst(all, ({ fingerprint }) => Option.contains(previous.fingerprint, fingerprint))
        )
        const knownOf = (document: string) =>
          Option.flatMap(latest, ({ documents }) =>
            Array.findFirst(documents, (known) => known.document === document)
          )
        return {
          latest,
          find: (document) =>
            Option.gen(function* () {
              const { directory, files } = yield* previous
              const known = yield* knownOf(document)
              const { sha256, size } = yield* Record.get(files, known.name)
              return { known, file: { bytes: size, sha256 }, directory }
            }),
          wasEmptied: (document) => Option.exists(knownOf(document), ({ isEmptied }) => isEmptied),
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
