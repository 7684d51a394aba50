/**
 * One document on its way from its source to its file: its steps, what is expected of it, and the links in it.
 *
 * Where links get places, it is held until its files are there, and is written then; else it is written while it is read.
 */
import { createHash, type Hash } from "node:crypto"
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { makeGiveWay } from "../../internal/nextTurn.ts"
import { printableLine } from "../../internal/printable.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { explain } from "../../internal/systemError.ts"
import { asJson, maxDetail } from "./asJson.ts"
import type { Document, DocumentNotSaved } from "./Document.ts"
import type { Step } from "./DocumentOptions.ts"
import type { Expectations } from "./expect/Expectations.ts"
import type { TableCheck } from "./expect/TableCheck.ts"
import type { HeldValues } from "./heldValues.ts"
import * as jsonFile from "./jsonFile.ts"
import type { DocumentPart, FoundMedia } from "./media/findMedia.ts"
import { makeRecordIds } from "./recordIds.ts"
import { runsOf, savedParts, sorted, sortedItems, sortedParts } from "./sortedJson.ts"
import {
  type DocumentFile,
  encoding,
  type FileTarget,
  inTurns,
  type Waiting,
  writeParts,
  writing
} from "./writeDocument.ts"

export interface DocumentTarget extends FileTarget {
  /** Told how many records there are so far. */
  readonly progress: (records: number) => Effect.Effect<void>
  readonly begin: Expectations["begin"]
  readonly fieldsOf: (record: JsonObject) => JsonObject
  readonly steps: ReadonlyArray<Step>
  /** Takes out of a record or value what may change without new content, such as a counter: it is saved, but makes no new version. */
  readonly lasting: (value: unknown) => unknown
  /** Where it waits, and who looks for links in it; it is written at once without it. */
  readonly holding: Option.Option<Effect.Effect<Holding, PlatformError, Scope.Scope>>
}

type JsonObject = Readonly<Record<string, unknown>>

/** A document that is held. */
export interface Holding {
  readonly values: HeldValues
  readonly look: (part: DocumentPart) => void
  readonly found: () => FoundMedia
}

/** A document that was read. */
export interface SavedDocument {
  /** Equal for equal content, whatever is volatile in it. */
  readonly digest: string
  readonly records: number
  readonly holds: "records" | "keys"
  readonly isEmpty: boolean
  readonly check: Option.Option<TableCheck>
  readonly warnings: ReadonlyArray<string>
  /** Its file, or what is still to be written. */
  readonly content: DocumentFile | Waiting
}

type Saving<E> = Effect.Effect<SavedDocument, E | DocumentNotSaved, FileSystem.FileSystem | Scope.Scope>

export const saveDocument = <E>(document: Document<E>, target: DocumentTarget): Saving<E> => {
  const { again = (save) => save, content } = document
  if (content._tag === "Records" && target.steps.length === 0) {
    return Effect.zipRight(target.progress(0), again(saveRecords(document, content.pages, target)))
  }
  const whole =
    content._tag === "Value"
      ? content.value
      : Effect.map(Stream.runCollect(Stream.flattenIterables(content.pages)), Chunk.toArray)
  const save = Effect.gen(function* () {
    const made = yield* runSteps(document, yield* whole, target)
    return yield* Array.isArray(made)
      ? saveRecords(document, Stream.fromIterable(pagesOf(made)), target)
      : saveValue(document, made, target)
  })
  return Effect.zipRight(target.progress(0), again(save))
}

const runSteps = Effect.fnUntraced(function* (
  { name }: Document<unknown>,
  start: unknown,
  { failed, steps }: DocumentTarget
) {
  let value = start
  for (const [index, step] of steps.entries()) {
    const before = value
    const called = `step ${index + 1}${step.name === "" ? "" : ` (${step.name})`}`
    const onValue = Array.isArray(before) ? "" : `, which was given ${kindOf(before)} and no list of records`
    const given = yield* Effect.tryPromise({
      try: async () => step(before, { name }),
      catch: (cause) =>
        failed(`${called} failed${onValue}: ${printableLine(messageOf(cause), maxDetail)}`, cause)
    })
    value = yield* Effect.mapError(asJson(given), (found) => failed(`${called} gives ${found}`))
  }
  return value
})

const kindOf = (value: unknown): string =>
  Predicate.isRecord(value) ? "an object" : value === null ? "null" : `a ${typeof value}`

const pageSize = 100

function* pagesOf(items: ReadonlyArray<unknown>): Generator<ReadonlyArray<unknown>> {
  for (let start = 0; start < items.length; start += pageSize) {
    yield items.slice(start, start + pageSize)
  }
}

/** Takes records some at a time, and gives the digest of all. */
interface Sink {
  readonly add: (items: ReadonlyArray<unknown>, first: number) => Effect.Effect<void, DocumentNotSaved>
  readonly end: Effect.Effect<Pick<SavedDocument, "content" | "digest">, DocumentNotSaved>
}

const makeSink = (
  target: DocumentTarget
): Effect.Effect<Sink, DocumentNotSaved, FileSystem.FileSystem | Scope.Scope> =>
  Option.match(target.holding, {
    onNone: () =>
      Effect.map(writing(target, jsonFile.openArray(target.path)), (file) => ({
        add: (items) =>
          Effect.suspend(() =>
            inTurns(target, file.add(items, lastingOf(items, target)), writing(target, file.flush))
          ),
        end: Effect.map(writing(target, file.end), (content) => ({ content, digest: content.digest }))
      })),
    onSome: (holding) =>
      Effect.map(writing(target, holding), (content) => {
        const digest = createHash("sha256").update("[")
        return {
          add: (values, first) =>
            Effect.flatMap(
              encoding(target, () => {
                const texts = values.map((value) => JSON.stringify(value))
                for (const [index, lasting] of lastingOf(values, target).entries()) {
                  digest.update(lasting === values[index] ? (texts[index] ?? "") : JSON.stringify(lasting))
                  digest.update("\n")
                }
                content.look({ values, first: Option.some(first) })
                return `[${texts.join(",")}]`
              }),
              (text) => writing(target, content.values.add(values, text))
            ),
          end: Effect.sync(() => ({ content: waiting(content, target), digest: digest.digest("hex") }))
        }
      })
  })

/** The items themselves where all of each lasts. */
const lastingOf = (items: ReadonlyArray<unknown>, { lasting }: DocumentTarget): ReadonlyArray<unknown> => {
  const parts = items.map(lasting)
  return parts.every((part, index) => part === items[index]) ? items : parts
}

const saveRecords = <E>(
  document: Document<E>,
  pages: Stream.Stream<ReadonlyArray<unknown>, E>,
  target: DocumentTarget
): Saving<E> =>
  Effect.gen(function* () {
    const { about, key, name } = document
    const ids = makeRecordIds(key)
    const check = target.begin(name, "records")
    const sink = yield* makeSink(target)
    let records = 0

    const look = (record: unknown) => {
      const id = ids.add(record)
      if (Option.isSome(check)) {
        check.value.add(Predicate.isReadonlyRecord(record) ? target.fieldsOf(record) : {}, () =>
          Option.getOrUndefined(id)
        )
      }
    }

    const save = Effect.fnUntraced(function* (items: ReadonlyArray<unknown>) {
      yield* encoding(target, () => {
        for (const record of items) look(record)
      })
      const ordered = document.isSorted === true ? items : yield* inTurns(target, sortedItems(items))
      yield* sink.add(ordered, records)
      records += items.length
    })

    const giveWay = makeGiveWay()
    yield* Stream.runForEach(pages, (page) =>
      Effect.forEach(runsOf(page), (run) => Effect.zipRight(save(run), giveWay), { discard: true }).pipe(
        Effect.zipRight(Effect.suspend(() => target.progress(records)))
      )
    )
    const saved = yield* sink.end
    return {
      ...saved,
      records,
      holds: "records" as const,
      isEmpty: records === 0,
      check,
      warnings: [...ids.warnings(), ...(about?.().warnings ?? [])]
    }
  })

const saveValue = <E>(document: Document<E>, value: unknown, target: DocumentTarget): Saving<E> =>
  Effect.gen(function* () {
    const { holding, lasting } = target
    const check = target.begin(document.name, "keys")
    const { records = 1, recordOf = () => undefined, warnings = [] } = document.about?.() ?? {}
    if (Option.isSome(check)) check.value.add(Predicate.isReadonlyRecord(value) ? value : {}, recordOf)
    const saved = yield* Option.match(holding, {
      onNone: () =>
        Effect.map(
          Effect.suspend(() => {
            const lasts = lasting(value)
            const order = document.isSorted === true ? identity : sorted
            return writeParts(
              target,
              savedParts(value, order),
              lasts === value ? undefined : savedParts(lasts, order)
            )
          }),
          (content) => ({ content, digest: content.digest })
        ),
      onSome: Effect.fnUntraced(function* (holding) {
        const content = yield* writing(target, holding)
        const ordered = document.isSorted === true ? value : yield* inTurns(target, sortedParts(value))
        const texts: Array<string> = []
        yield* inTurns(target, linesOf([ordered], texts))
        const digest = createHash("sha256")
        const lasts = lasting(ordered)
        yield* inTurns(target, digestParts(digest, savedParts(lasts, identity)))
        yield* encoding(target, () => content.look({ values: [ordered], first: Option.none() }))
        yield* writing(target, content.values.add([ordered], texts.join("")))
        return { content: waiting(content, target), digest: digest.digest("hex") }
      })
    })
    yield* target.progress(records)
    return {
      ...saved,
      records,
      holds: "keys" as const,
      isEmpty: value === null || (Predicate.isReadonlyRecord(value) && Object.keys(value).length === 0),
      check,
      warnings
    }
  })

/** Puts the text of the items there, without line breaks: strings have none in JSON. */
function* linesOf(items: ReadonlyArray<unknown>, texts: Array<string>): Generator<void> {
  for (const part of savedParts(items, identity)) {
    texts.push(part.replaceAll(/\n */g, ""))
    yield
  }
}

function* digestParts(digest: Hash, parts: Iterable<string>): Generator<void> {
  for (const part of parts) {
    digest.update(part)
    yield
  }
}

const waiting = ({ found, values }: Holding, { failed }: DocumentTarget): Waiting => ({
  found: found(),
  parts: Stream.mapError(values.parts, (cause) => failed(`cannot be read again: ${explain(cause)}`, cause))
})
