import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { viewId } from "../../../src/layers/tableServer/identifiers.ts"
import { applyView, findView, parseViews, viewsOf } from "../../../src/layers/tableServer/Views.ts"
import { tableOf } from "../../support/tableRecords.ts"

const parse = (value: unknown) => parseViews("views.json", JSON.stringify(value))
const names = (value: unknown, table = "Objects") => [
  ...viewsOf(Either.getOrThrow(parse(value)), table).keys()
]

const cell = FastCheck.oneof(
  FastCheck.constantFrom(null, false, "", []),
  FastCheck.boolean(),
  FastCheck.integer({ min: 0, max: 3 }),
  FastCheck.constantFrom("a", "B", "c"),
  FastCheck.constantFrom(["a"], { error: "#ERROR!" })
)
const rows = FastCheck.array(FastCheck.record({ a: cell, b: cell }), { maxLength: 30 })

describe("views.json", () => {
  it("adds views to the default one", () => {
    assert.deepStrictEqual(names({ Objects: { Published: {} } }), ["Grid view", "Published"])
    assert.deepStrictEqual(names({ Objects: { Published: {} } }, "Rooms"), ["Grid view"])
    assert.deepStrictEqual(names({}, "toString"), ["Grid view"])
  })

  it("renames the default view", () => {
    assert.deepStrictEqual(names({ Objects: { "Grid view": { removed: true }, "All objects": {} } }), [
      "All objects"
    ])
  })

  it("gives views an id", () => {
    const views = viewsOf(
      Either.getOrThrow(parse({ Objects: { Published: { filter: { a: 1 } } } })),
      "Objects"
    )
    const id = viewId("Objects", "Published")
    assert.match(id, /^viw[a-zA-Z0-9]{14}$/)
    assert.strictEqual(findView(views, "Objects", id), views.get("Published"))
    assert.isUndefined(findView(views, "Rooms", id))
  })

  it("tells every mistake and where it is", () => {
    const parsed = parse({ Objects: { A: { filtr: {} }, B: { sort: [{ field: "x", direction: "up" }] } } })
    const message = Either.match(parsed, { onLeft: (error) => error.message, onRight: () => "" })
    assert.match(message, /^views\.json: /)
    assert.include(message, "filtr")
    assert.include(message, 'expected "asc" or "desc", got "up"')
    assert.isTrue(Either.isLeft(parse([])))
    assert.isTrue(Either.isLeft(parseViews("views.json", "{")))
  })
})

describe("applyView", () => {
  it.prop("keeps what the filter says, in the table's order", [rows, cell], ([given, value]) => {
    FastCheck.pre(typeof value !== "object" || value === null)
    const { records } = tableOf(given)
    const empty = (x: unknown) =>
      x === null || x === false || x === "" || (Array.isArray(x) && x.length === 0)
    const expected = given.flatMap((row, index) =>
      (empty(value) ? empty(row.a) : row.a === value) ? [records[index]?.id] : []
    )
    const shown = applyView({ filter: { a: value } }, records)
    assert.deepStrictEqual(
      shown.map(({ id }) => id),
      expected
    )
  })

  it.prop("sorts without losing a record, and stays as it is when sorted again", [rows], ([given]) => {
    const { records } = tableOf(given)
    const view = {
      sort: [
        { field: "a", direction: "desc" as const },
        { field: "b", direction: "asc" as const }
      ]
    }
    const sorted = applyView(view, records)
    assert.sameMembers([...sorted], [...records])
    assert.deepStrictEqual(applyView(view, sorted), sorted)
  })

  it("orders empty cells, numbers and texts", () => {
    const { records } = tableOf([
      { a: "b" },
      { a: 10 },
      { a: null },
      { a: "C" },
      { a: 9 },
      { a: true },
      { a: "a" }
    ])
    const order = (direction: "asc" | "desc") =>
      applyView({ sort: [{ field: "a", direction }] }, records).map(({ fields }) => fields.a)
    assert.deepStrictEqual(order("asc"), [undefined, true, 9, 10, "a", "b", "C"])
    assert.deepStrictEqual(order("desc"), ["C", "b", "a", 10, 9, true, undefined])
  })
})
