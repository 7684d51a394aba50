/**
 * Saving a document: its steps, what is expected of it, and its file.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { printableLine } from "../../internal/printable.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { explain } from "../../internal/systemError.ts"
import { asJson, maxDetail } from "./asJson.ts"
import { type Document, DocumentNotSaved } from "./Document.ts"
import type { Step } from "./DocumentConfig.ts"
import type { Expectations } from "./expect/Expectations.ts"
import type { CheckFields, TableCheck } from "./expect/TableCheck.ts"
import * as jsonFile from "./jsonFile.ts"
import { makeRecordIds } from "./recordIds.ts"
import { sorted } from "./sortedJson.ts"

export interface DocumentTarget {
  /** The file to write (absolute path). */
  readonly path: string
  /** Told how many records there are so far. */
  readonly progress: (records: number) => Effect.Effect<void>
  readonly begin: Expectations["begin"]
  readonly steps: ReadonlyArray<Step>
  /** A record or value without what says nothing of the content: that is saved, but makes no new version. */
  readonly lasting: ((value: unknown) => unknown) | undefined
}

export interface SavedDocument extends jsonFile.WrittenFile {
  readonly records: number
  readonly holds: "records" | "keys"
  readonly check: Option.Option<TableCheck>
  readonly warnings: ReadonlyArray<string>
}

type Saving<E> = Effect.Effect<SavedDocument, E | DocumentNotSaved, FileSystem.FileSystem>

export const saveDocument = <E>(document: Document<E>, target: DocumentTarget): Saving<E> => {
  const { content } = document
  if (content._tag === "Records" && target.steps.length === 0) {
    return saveRecords(document, content.pages, target)
  }
  const whole =
    content._tag === "Value"
      ? content.value
      : Effect.map(Stream.runCollect(Stream.flattenIterables(content.pages)), Chunk.toArray)
  return Effect.gen(function* () {
    const made = yield* runSteps(document, yield* whole, target.steps)
    return yield* Array.isArray(made)
      ? saveRecords(document, Stream.fromIterable(pagesOf(made)), target)
      : saveValue(document, made, target)
  })
}

const runSteps = Effect.fnUntraced(function* (
  { name }: Document<unknown>,
  start: unknown,
  steps: ReadonlyArray<Step>
) {
  let value = start
  for (const [index, step] of steps.entries()) {
    const before = value
    const failed = (detail: string, cause?: unknown) =>
      new DocumentNotSaved({
        document: name,
        detail: `step ${index + 1}${step.name === "" ? "" : ` (${step.name})`} ${detail}`,
        cause
      })
    const given = yield* Effect.tryPromise({
      try: async () => step(before, { name }),
      catch: (cause) => failed(`failed: ${printableLine(messageOf(cause), maxDetail)}`, cause)
    })
    value = yield* Effect.mapError(asJson(given), (found) => failed(`gives ${found}`))
  }
  return value
})

const pageSize = 100

function* pagesOf(items: ReadonlyArray<unknown>): Generator<ReadonlyArray<unknown>> {
  for (let start = 0; start < items.length; start += pageSize) {
    yield items.slice(start, start + pageSize)
  }
}

const saveRecords = <E>(
  document: Document<E>,
  pages: Stream.Stream<ReadonlyArray<unknown>, E>,
  { begin, lasting, path, progress }: DocumentTarget
): Saving<E> =>
  Effect.gen(function* () {
    const { key, name } = document
    const ids = makeRecordIds(key)
    const check = begin(name, "records")
    const file = yield* writing(document, path, jsonFile.openArray(path))
    let records = 0

    const add = (page: ReadonlyArray<unknown>) => {
      for (const record of page) {
        const id = ids.add(record)
        if (Option.isSome(check)) checkRecord(check.value.add, record, Option.getOrUndefined(id))
      }
      const items = page.map(sorted)
      file.add(items, lasting === undefined ? items : items.map(lasting))
      records += page.length
    }

    yield* progress(0)
    yield* Stream.runForEach(pages, (page) =>
      encoding(document, () => add(page)).pipe(
        Effect.zipRight(writing(document, path, file.flush)),
        Effect.zipRight(Effect.suspend(() => progress(records)))
      )
    )
    const written = yield* writing(document, path, file.end)
    return {
      ...written,
      records,
      holds: "records" as const,
      check,
      warnings: ids.warnings()
    }
  }).pipe(Effect.scoped)

const checkRecord = (check: CheckFields, record: unknown, id: string | undefined) =>
  check(Predicate.isReadonlyRecord(record) ? record : {}, () => id)

const saveValue = <E>(
  document: Document<E>,
  value: unknown,
  { begin, lasting, path, progress }: DocumentTarget
): Saving<E> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const { encoded, written } = yield* encoding(document, () => {
      const inOrder = sorted(value)
      return jsonFile.encodeValue(inOrder, lasting === undefined ? inOrder : lasting(inOrder))
    })
    const check = begin(document.name, "keys")
    if (Option.isSome(check)) checkRecord(check.value.add, value, undefined)
    yield* writing(document, path, fileSystem.writeFile(path, encoded))
    yield* progress(1)
    return { ...written, records: 1, holds: "keys" as const, check, warnings: [] }
  })

/** What is nested deeper than can be written, for example. */
const encoding = <A>({ name: document }: Document<unknown>, encode: () => A) =>
  Effect.try({
    try: encode,
    catch: (cause) =>
      new DocumentNotSaved({ document, detail: `cannot be written as JSON: ${String(cause)}`, cause })
  })

const writing = <A, R>(
  { name: document }: Document<unknown>,
  path: string,
  write: Effect.Effect<A, PlatformError, R>
) =>
  Effect.mapError(
    write,
    (cause) => new DocumentNotSaved({ document, detail: `cannot write ${path}: ${explain(cause)}`, cause })
  )
