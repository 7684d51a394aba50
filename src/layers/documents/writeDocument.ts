/**
 * Writing the file of a document, in turns of the event loop.
 */
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { makeGiveWay } from "../../internal/nextTurn.ts"
import { explain } from "../../internal/systemError.ts"
import type { DocumentNotSaved } from "./Document.ts"
import * as jsonFile from "./jsonFile.ts"
import type { DocumentPart, FoundMedia } from "./media/findMedia.ts"
import { runsOf, savedParts } from "./sortedJson.ts"

export interface FileTarget {
  /** The file to write (absolute path). */
  readonly path: string
  readonly failed: (detail: string, cause?: unknown) => DocumentNotSaved
}

/** A document that waits for its files. */
export interface Waiting {
  /** What it has, in parts. */
  readonly parts: Stream.Stream<ReadonlyArray<unknown>, DocumentNotSaved, FileSystem.FileSystem>
  readonly found: FoundMedia
}

/** The file of a document. */
export type DocumentFile = Pick<jsonFile.WrittenFile, "bytes" | "sha256">

/** Writes what has waited, with the places of its files. */
export const writeDocument = (
  { parts }: Waiting,
  holds: "records" | "keys",
  change: (part: DocumentPart) => ReadonlyArray<unknown>,
  target: FileTarget
): Effect.Effect<DocumentFile, DocumentNotSaved, FileSystem.FileSystem> =>
  holds === "keys"
    ? Effect.gen(function* () {
        const values = Chunk.toArray(yield* Stream.runCollect(Stream.flattenIterables(parts)))
        const [changed] = yield* encoding(target, () => change({ values, first: Option.none() }))
        return yield* writeParts(target, savedParts(changed, identity))
      })
    : Effect.gen(function* () {
        const file = yield* writing(target, jsonFile.openArray(target.path))
        yield* forEachPart(parts, holds, (part) =>
          Effect.flatMap(
            encoding(target, () => change(part)),
            (items) => inTurns(target, file.add(items), writing(target, file.flush))
          )
        )
        return yield* writing(target, file.end)
      }).pipe(Effect.scoped)

/** Gives each part, with the number of its first record where there are any. */
export const forEachPart = <E, R, F, S>(
  parts: Stream.Stream<ReadonlyArray<unknown>, E, R>,
  holds: "records" | "keys",
  use: (part: DocumentPart) => Effect.Effect<void, F, S>
): Effect.Effect<void, E | F, R | S> =>
  Effect.suspend(() => {
    let records = 0
    const giveWay = makeGiveWay()
    return Stream.runForEach(parts, (part) =>
      Effect.forEach(
        runsOf(part),
        (values) => {
          const first = holds === "records" ? Option.some(records) : Option.none()
          records += values.length
          return Effect.zipRight(use({ values, first }), giveWay)
        },
        { discard: true }
      )
    )
  })

/** Writes a file of one value. */
export const writeParts = (target: FileTarget, parts: Iterable<string>, lasting?: Iterable<string>) =>
  Effect.gen(function* () {
    const file = yield* writing(target, jsonFile.open(target.path))
    yield* inTurns(target, file.add(parts, lasting), writing(target, file.flush))
    return yield* writing(target, file.end)
  }).pipe(Effect.scoped)

/** What is nested deeper than can be written, for example. */
export const encoding = <A>(
  { failed }: Pick<FileTarget, "failed">,
  encode: () => A
): Effect.Effect<A, DocumentNotSaved> =>
  Effect.try({ try: encode, catch: (cause) => failed(`cannot be written as JSON: ${String(cause)}`, cause) })

/** Takes all parts of work that throws as `encoding` does: `after` each, and with turns of the event loop between them. */
export const inTurns = <A, E = never, R = never>(
  target: Pick<FileTarget, "failed">,
  work: Generator<void, A>,
  after: Effect.Effect<void, E, R> = Effect.void
): Effect.Effect<A, E | DocumentNotSaved, R> =>
  Effect.gen(function* () {
    const giveWay = makeGiveWay()
    while (true) {
      const part = yield* encoding(target, () => work.next())
      if (part.done === true) return part.value
      yield* after
      yield* giveWay
    }
  })

export const writing = <A, R>(
  { failed, path }: FileTarget,
  write: Effect.Effect<A, PlatformError, R>
): Effect.Effect<A, DocumentNotSaved, R> =>
  Effect.mapError(write, (cause) => failed(`cannot write ${path}: ${explain(cause)}`, cause))
