/**
 * What the documents of a version came to when they were read, so that those that have not changed can be taken over from it.
 */
import { createHash } from "node:crypto"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import type { FetchTarget } from "../../services/ContentSource.ts"
import type { CheckedTable, Verdict } from "./expect/TableCheck.ts"
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
  readonly holds: CheckedTable["holds"]
  readonly warnings: ReadonlyArray<string>
  readonly verdict: Verdict
  /** Files whose places are known. */
  readonly attached: ReadonlyArray<WantedFile>
}

interface Read {
  readonly fingerprint: string
  /** In the order in which they were read. */
  readonly documents: ReadonlyArray<KnownDocument>
  /** What is known of its linked files, which is newer than what is on disk: servers gave them other tags since. */
  readonly index: MediaIndex
  /** What is wrong with its pictures. */
  readonly flaws: ReadonlyArray<string>
}

/** What is known of the version before. */
export type KnownDocuments = Effect.Effect.Success<
  ReturnType<Effect.Effect.Success<typeof makeKnownDocuments>["of"]>
>

/** One that is in the version before. */
export type FoundDocument = Option.Option.Value<ReturnType<KnownDocuments["find"]>>

/** Remembers the documents of the latest version, and those read last, which may not have become a version. */
export const makeKnownDocuments = Effect.map(Ref.make<ReadonlyArray<Read>>([]), (reads) => ({
  /** The documents of the previous version, if it was read here. */
  of: (previous: FetchTarget["previous"]) =>
    Effect.map(Ref.get(reads), (all) => {
      const latest = all.filter(({ fingerprint }) =>
        Option.exists(previous, (previous) => Option.contains(previous.fingerprint, fingerprint))
      )
      const documents = latest.flatMap(({ documents }) => documents)
      return {
        /** None where it was not read here. */
        index: Option.map(Array.head(latest), ({ index }) => index),
        flaws: latest.flatMap(({ flaws }) => flaws),
        attached: documents.flatMap(({ attached }) => attached),
        /** With its file there, and the folder that this is in. None where it is not there. */
        find: (document: string) =>
          Option.gen(function* () {
            const { directory, files } = yield* previous
            const known = yield* Option.fromNullable(documents.find((known) => known.document === document))
            const { sha256, size } = yield* Record.get(files, known.name)
            return { known, file: { bytes: size, sha256 }, directory }
          }),
        /** Remembers what was read now. */
        add: (read: Read) =>
          Ref.set(reads, [read, ...latest.filter(({ fingerprint }) => fingerprint !== read.fingerprint)])
      }
    })
}))

/** The fingerprint of files, each with the digest of what is in it, in whatever order they were written. */
export const fingerprint = (
  files: ReadonlyArray<{ readonly name: string; readonly digest: string }>
): string =>
  createHash("sha256")
    .update(JSON.stringify(files.map(({ digest, name }) => [name, digest].join("/")).sort()))
    .digest("hex")
