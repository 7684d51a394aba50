import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Gone from "../../../src/layers/documents/Gone.ts"

const rows = (count: number) => Array.from({ length: count }, (_, id) => ({ id, title: `Bell ${id}` }))

const documentOf = (records: ReadonlyArray<object>) => {
  const shape = Gone.makeShape()
  for (const record of records) shape.add(record)
  return { document: "bells", title: "Bells", hadContent: true, shape: shape.end(records.length) }
}

const previous = Option.some({ directory: "", fingerprint: Option.none(), files: {} })

const sourceOf = Effect.map(
  Gone.make({ id: "museum", expect: {} }, (name) => name),
  (gone) => ({
    accept: gone.accept,
    fetch: (records: ReadonlyArray<object>) =>
      Effect.flatMap(
        gone.compare({ previous, documents: [documentOf(records)], files: 0 }),
        ({ next, warnings }) => gone.end(next, warnings, false)
      )
  })
)

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

it.effect("an accepted loss is no warning any more, but the next one is", () =>
  Effect.gen(function* () {
    const { accept, fetch } = yield* sourceOf
    yield* fetch(rows(60))
    const [warning = { code: "", subject: "", text: "" }] = yield* fetch(rows(30))
    yield* accept(warning)
    expect(yield* fetch(rows(30))).toEqual([])
    expect(yield* fetch(rows(12))).toMatchObject([{ code: "gone:records" }])
    const [empty = warning] = yield* fetch([])
    yield* accept(empty)
    expect(yield* fetch([])).toEqual([])
  }).pipe(Effect.provide(NodeContext.layer))
)
