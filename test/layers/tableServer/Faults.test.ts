import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as Faults from "../../../src/layers/tableServer/Faults.ts"
import { tableId } from "../../../src/layers/tableServer/identifiers.ts"

const objects: Faults.Place = { kind: "tables", table: "Objects" }
const rooms: Faults.Place = { kind: "tables", table: "Rooms" }
const attachments: Faults.Place = { kind: "attachments" }

/** What a request to each place gets, one after the other. */
const given = (texts: ReadonlyArray<string>, places: ReadonlyArray<Faults.Place>) =>
  Effect.gen(function* () {
    const faults = Faults.make([])
    yield* Effect.forEach(texts, faults.control.add)
    const taken = yield* Effect.forEach(places, faults.take)
    return taken.map((fault) => Option.getOrNull(Option.map(fault, ({ what }) => what)))
  })

const times = (count: number, place: Faults.Place) => Array.from({ length: count }, () => place)

describe("Faults", () => {
  it.effect("come as often as they are told", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* given(["all 500"], times(3, objects)), [500, 500, 500])
      assert.deepStrictEqual(yield* given(["all 500 x2"], times(3, objects)), [500, 500, null])
      const third = [null, null, 500, null, null, 500, null, null, 500]
      assert.deepStrictEqual(yield* given(["all 500 every=3"], times(9, objects)), third)
      assert.deepStrictEqual(yield* given(["all 500 x1 every=3"], times(9, objects)), [
        ...third.slice(0, 3),
        ...times(6, objects).map(() => null)
      ])
    })
  )

  it.effect("come where they are told", () =>
    Effect.gen(function* () {
      const places = [objects, rooms, attachments]
      assert.deepStrictEqual(yield* given(["all 500"], places), [500, 500, 500])
      assert.deepStrictEqual(yield* given(["tables 500"], places), [500, 500, null])
      assert.deepStrictEqual(yield* given(["attachments 500"], places), [null, null, 500])
      assert.deepStrictEqual(yield* given(["Objects 500"], places), [500, null, null])
      assert.deepStrictEqual(yield* given([`${tableId("Objects")} 500`], places), [500, null, null])
      const ofWebhooks = [objects, { kind: "webhooks" }, { kind: "payloads" }, { kind: "schema" }] as const
      assert.deepStrictEqual(yield* given(["webhooks 500"], ofWebhooks), [null, 500, 500, null])
      assert.deepStrictEqual(yield* given(["payloads 500"], ofWebhooks), [null, null, 500, null])
      assert.deepStrictEqual(yield* given(["schema 500"], ofWebhooks), [null, null, null, 500])
      const byId: Faults.Place = { kind: "tables", table: tableId("Objects") }
      assert.deepStrictEqual(yield* given(["Objects 500"], [byId]), [500])
    })
  )

  it.effect("take turns in the order in which they were added", () =>
    Effect.gen(function* () {
      const faults = ["Objects 500 x2", "tables reset x1", "all 404 every=2"]
      assert.deepStrictEqual(yield* given(faults, times(7, objects)), [
        500,
        500,
        "reset",
        null,
        404,
        null,
        404
      ])
    })
  )

  it.effect("of iterators are for those who ask", () =>
    Effect.gen(function* () {
      const faults = Faults.make([])
      yield* faults.control.add("Objects iterator x1")
      assert.isTrue(Option.isNone(yield* faults.take(objects)))
      const gone = (place: Faults.Place) => Effect.map(faults.takeOneOf(place, ["iterator"]), Option.isSome)
      assert.isTrue(Option.isNone(yield* faults.takeOneOf(objects, ["endless", "dropped"])))
      assert.isFalse(yield* gone(rooms))
      assert.isTrue(yield* gone(objects))
      assert.isFalse(yield* gone(objects))
    })
  )

  it.effect("are gone when they are cleared, and are not added when they are none", () =>
    Effect.gen(function* () {
      const faults = Faults.make([])
      assert.strictEqual((yield* Effect.flip(faults.control.add("nonsense")))._tag, "vitrine/InvalidFault")
      assert.isTrue(Option.isNone(yield* faults.take(objects)))
      yield* faults.control.add("all stall")
      yield* faults.control.clear
      assert.isTrue(Option.isNone(yield* faults.take(objects)))
    })
  )
})

const everyTime = { count: Number.POSITIVE_INFINITY, every: 1 }

describe("parseFault", () => {
  it.each<readonly [string, Omit<Faults.Fault, "text">]>([
    ["Objects 503", { where: "Objects", what: 503, ...everyTime }],
    ["Objects 503 x2", { where: "Objects", what: 503, count: 2, every: 1 }],
    ["all 429 retry-after=30 every=3", { where: "all", what: 429, retryAfter: 30, ...everyTime, every: 3 }],
    ["attachments short x1 every=2", { where: "attachments", what: "short", count: 1, every: 2 }],
    ["  Räume & Wege \t reset ", { where: "Räume & Wege", what: "reset", ...everyTime }],
    ["503 503", { where: "503", what: 503, ...everyTime }],
    ["Room 500 404", { where: "Room 500", what: 404, ...everyTime }],
    ["Cafe\u0301 html", { where: "Café", what: "html", ...everyTime }]
  ])("reads %j", (text, fault) => {
    assert.deepStrictEqual(Faults.parseFault(text), Either.right({ text, ...fault }))
  })

  it.each([...Faults.faultKinds])("knows %s", (kind) => {
    assert.isTrue(Either.isRight(Faults.parseFault(`tables ${kind} x1`)))
  })

  it.each([
    "",
    "Objects",
    "503",
    "Objects 200",
    "Objects 600",
    "Objects 5030",
    "Objects sulk",
    "Objects toString",
    "Objects 503 x0",
    "Objects 503 every=0",
    "Objects 503 x2 x3",
    "Objects 503 every=2 x3",
    "Objects reset retry-after=3",
    "Objects 503 retry-after=soon"
  ])("refuses %j, and says what is right", (text) => {
    const error = Either.getOrThrow(Either.flip(Faults.parseFault(text)))
    assert.include(error.message, "WHERE WHAT")
    assert.include(error.message, JSON.stringify(text))
  })

  it.prop("never throws, and is quick", [FastCheck.string({ maxLength: 5000 })], ([text]) => {
    Faults.parseFault(text)
    Faults.parseFault(`${" x".repeat(500)}${text}`)
  })
})
