import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Gone from "../../../src/layers/documents/Gone.ts"
import * as KeptFile from "../../../src/layers/documents/KeptFile.ts"

const rows = (count: number) => Array.from({ length: count }, (_, id) => ({ id, title: `Bell ${id}` }))

const documentOf = (records: ReadonlyArray<object>) => {
  const shape = Gone.makeShape()
  for (const record of records) shape.add(record)
  return {
    document: "bells",
    place: { name: "Bells.csv" },
    hadContent: true,
    shape: shape.end(records.length)
  }
}

const note = (text: string) => ({ code: "content:note", subject: "", text })

const previous = Option.some({ directory: "", fingerprint: Option.none(), files: {} })

const sourceOf = Effect.map(KeptFile.make("museum"), (kept) => {
  const gone = Gone.make({ id: "museum", expect: {} }, "document", kept)
  return {
    accept: gone.accept,
    /** Without records, the document is gone. */
    fetch: (records: ReadonlyArray<object> | undefined, ...given: ReadonlyArray<string>) =>
      gone.judge(
        given.map(note),
        { previous, documents: records === undefined ? [] : [documentOf(records)], files: 0 },
        false
      )
  }
})

it.effect("a loss is a warning in every version that follows, until the records are back", () =>
  Effect.gen(function* () {
    const { fetch } = yield* sourceOf
    yield* fetch(rows(12))
    for (const left of [7, 7, 6]) {
      expect(yield* fetch(rows(left))).toMatchObject([{ code: "gone:records", subject: "bells" }])
    }
    expect(yield* fetch(rows(9))).toEqual([])
    expect(yield* fetch(rows(7))).toEqual([])
  }).pipe(Effect.provide(NodeContext.layer))
)

it.effect("a hint takes long, so only the first ten fields get one if all fields have other names", () =>
  Effect.gen(function* () {
    const { fetch } = yield* sourceOf
    const named = (name: string) =>
      rows(12).map(() => Object.fromEntries(Array.from({ length: 12 }, (_, number) => [name + number, 1])))
    yield* fetch(named("the name of a field "))
    const texts = (yield* fetch(named("the name of the field "))).map(({ text }) => text)
    expect(texts).toHaveLength(12)
    expect(texts.filter((text) => text.includes("the name of the field"))).toHaveLength(10)
  }).pipe(Effect.provide(NodeContext.layer))
)

it.effect("an accepted loss is no warning any more, but the next one is", () =>
  Effect.gen(function* () {
    const { accept, fetch } = yield* sourceOf
    yield* fetch(rows(60))
    const [warning = { code: "", subject: "", text: "" }] = yield* fetch(rows(30))
    yield* accept(warning)
    expect(yield* fetch(rows(12))).toMatchObject([{ code: "gone:records" }])
    expect(yield* fetch(rows(30))).toEqual([])
    const [empty = warning] = yield* fetch([])
    yield* accept(empty)
    expect(yield* fetch([])).toEqual([])
  }).pipe(Effect.provide(NodeContext.layer))
)

it.effect("a document that was empty, and then gone, is accepted once and not named again", () =>
  Effect.gen(function* () {
    const { accept, fetch } = yield* sourceOf
    yield* fetch(rows(12))
    yield* fetch([])
    const [gone = { code: "", subject: "", text: "" }] = yield* fetch(undefined)
    expect(gone).toMatchObject({ code: "gone:document", subject: "bells" })
    yield* accept(gone)
    for (const _ of [1, 2, 3]) expect(yield* fetch(undefined)).toEqual([])
    yield* fetch(rows(12))
    expect(yield* fetch(undefined)).toMatchObject([{ code: "gone:document" }])
  }).pipe(Effect.provide(NodeContext.layer))
)

it.effect("an accepted warning stays accepted while its numbers change, until it is over", () =>
  Effect.gen(function* () {
    const { accept, fetch } = yield* sourceOf
    const [warning = note("")] = yield* fetch(rows(1), "2 unpublished items")
    yield* accept(warning)
    for (const text of ["2 unpublished items", "3 unpublished items"]) {
      expect(yield* fetch(rows(1), text)).toEqual([])
    }
    yield* fetch(rows(1))
    expect(yield* fetch(rows(1), "3 unpublished items")).toHaveLength(1)
  }).pipe(Effect.provide(NodeContext.layer))
)

it.effect("a field that is gone is named with all that is inside it, and accepted with it", () =>
  Effect.gen(function* () {
    const { accept, fetch } = yield* sourceOf
    yield* fetch(rows(12).map((row) => ({ ...row, size: { width: 4, height: 2 } })))
    const without = yield* fetch(rows(12).map((row) => ({ ...row, size: { height: 2 } })))
    expect(without).toMatchObject([{ code: "gone:field", subject: "bells/size.width" }])
    const gone = yield* fetch(rows(12))
    expect(gone).toMatchObject([{ code: "gone:field", subject: "bells/size" }])
    yield* Effect.forEach(gone, accept)
    expect(yield* fetch(rows(12))).toEqual([])
  }).pipe(Effect.provide(NodeContext.layer))
)

it.effect("a small document without any of its fields is named, until one is back or it is accepted", () =>
  Effect.gen(function* () {
    const { accept, fetch } = yield* sourceOf
    yield* fetch([{ title: "Bells", open: "10" }])
    expect(yield* fetch([{ title: "Bells and more" }])).toEqual([])
    const refusal = [{ code: "rest_forbidden", message: "no" }]
    for (const _ of [1, 2]) {
      expect(yield* fetch(refusal)).toMatchObject([{ code: "gone:document", subject: "bells" }])
    }
    expect(yield* fetch([{ title: "Bells", more: 1 }])).toEqual([])
    expect(yield* fetch(refusal)).toHaveLength(1)
    yield* accept({ code: "gone:document", subject: "bells", text: "" })
    expect(yield* fetch(refusal)).toEqual([])
  }).pipe(Effect.provide(NodeContext.layer))
)

it.effect("a field that is no list any more is named once, and not what was inside an object", () =>
  Effect.gen(function* () {
    const { fetch } = yield* sourceOf
    const named = (tags: unknown, title: unknown) => rows(12).map(({ id }) => ({ id, tags, title }))
    yield* fetch(named(["brass"], { de: "Glocke" }))
    expect((yield* fetch(named({ 0: "brass", 2: "loud" }, "Glocke"))).map(({ subject }) => subject)).toEqual([
      "bells/tags (list)",
      "bells/title (object)"
    ])
    expect(yield* fetch(named([], { de: "Uhr" }))).toEqual([])
  }).pipe(Effect.provide(NodeContext.layer))
)
