/**
 * What the documents of a version came to when they were read, so that those that have not changed can be taken over from it.
 */
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { linkOrCopy } from "../../internal/reuseFile.ts"
import type { FetchTarget } from "../../services/ContentSource.ts"

/** A document that was saved. */
export interface NamedDocument {
  readonly document: string
  /** Of its file. */
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

/** The documents of one version. */
export interface KnownDocuments<A> {
  /** What it came to, and the folder that its file is in. None where that is not there. */
  readonly find: (document: string) => Option.Option<{ readonly known: A; readonly from: string }>
  /** In the order in which they were read. */
  readonly all: ReadonlyArray<A>
}

interface Read<A> {
  readonly fingerprint: string
  readonly documents: ReadonlyArray<A>
}

/** Of two versions at most: the latest one, and what was read last and may not have become a version. */
export const makeKnownDocuments = <A extends NamedDocument>() => {
  let reads: ReadonlyArray<Read<A>> = []
  let latest: ReadonlyArray<Read<A>> = []

  return {
    /** Of the version before, where it was read here. */
    of: (previous: FetchTarget["previous"]): KnownDocuments<A> => {
      latest = reads.filter(({ fingerprint }) =>
        Option.exists(previous, (previous) => Option.contains(previous.fingerprint, fingerprint))
      )
      const all = latest.flatMap(({ documents }) => documents)
      return {
        find: (document) =>
          Option.gen(function* () {
            const { directory, files } = yield* previous
            const known = yield* Option.fromNullable(all.find((known) => known.document === document))
            const { sha256, size } = yield* Record.get(files, known.name)
            // The same content may have been written in other bytes, with links that were signed again.
            return { known: { ...known, bytes: size, sha256 }, from: directory }
          }),
        all
      }
    },

    add: (fingerprint: string, documents: ReadonlyArray<A>): void => {
      reads = [{ fingerprint, documents }, ...latest.filter((read) => read.fingerprint !== fingerprint)]
    }
  }
}

/** Takes over the file of a document that has not changed. */
export const takeOver = Effect.fnUntraced(function* (name: string, from: string, directory: string) {
  const path = yield* Path.Path
  return yield* linkOrCopy(path.join(from, name), path.join(directory, name))
})
