/**
 * What every `TableSourceClient` does, whatever it talks to.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import {
  CursorExpired,
  type Page,
  TableError,
  type TableRecord,
  type TableSourceClient
} from "../../src/services/TableSourceClient.ts"
import { patiently } from "../support/patiently.ts"

export interface TableSourceClientHarness {
  readonly client: typeof TableSourceClient.Service
  readonly setTable: (table: string, records: ReadonlyArray<TableRecord>) => Effect.Effect<void>
  /** The next request is refused, for good. */
  readonly failNext: (error: TableError) => Effect.Effect<void>
  /** The next request must wait: the server fails once, or refuses everything for a while. */
  readonly hinderNext: (how: "failure" | "penalty") => Effect.Effect<void>
  readonly removeView: (view: string) => Effect.Effect<void>
  readonly expireCursors: Effect.Effect<void>
}

export const records = (count: number): ReadonlyArray<TableRecord> =>
  Array.from({ length: count }, (_, index) => ({ id: `rec${index}`, fields: { Number: index } }))

const refusal = (reason: TableError["reason"], status: number) =>
  new TableError({ table: "Objects", reason, status, detail: "as the test wants it" })

/** One for each reason for which nothing is tried again. */
const refusals = [
  refusal("Unauthorized", 401),
  refusal("NotFound", 404),
  refusal("Refused", 422),
  refusal("RateLimited", 429),
  refusal("UnexpectedAnswer", 200)
]

export const tableSourceClientContract = (
  name: string,
  make: (options: {
    readonly pageSize: number
  }) => Effect.Effect<TableSourceClientHarness, never, Scope.Scope>
) =>
  describe(`${name} as a TableSourceClient`, () => {
    it.scoped("gives all records in order, page by page", () =>
      Effect.gen(function* () {
        const { client, setTable } = yield* make({ pageSize: 2 })
        yield* setTable("Objects", records(5))
        const first = yield* client.listPage({ table: "Objects", view: "Grid view" })
        const pages: Array<Page> = [first]
        for (let cursor = first.next; cursor !== undefined; cursor = pages.at(-1)?.next) {
          pages.push(yield* client.listPage({ table: "Objects", view: "Grid view", cursor }))
        }
        expect(pages.map(({ records }) => records.length)).toEqual([2, 2, 1])
        expect(pages.flatMap(({ records }) => records)).toEqual(records(5))
      })
    )

    it.scoped("ends with a full page, and an empty table with an empty one", () =>
      Effect.gen(function* () {
        const { client, setTable } = yield* make({ pageSize: 2 })
        yield* setTable("Two", records(2))
        yield* setTable("None", [])
        expect(yield* client.listPage({ table: "Two", view: null })).toEqual({ records: records(2) })
        expect(yield* client.listPage({ table: "None", view: null })).toEqual({ records: [] })
      })
    )

    it.scoped("keeps tables and lists apart that are read at the same time", () =>
      Effect.gen(function* () {
        const { client, setTable } = yield* make({ pageSize: 1 })
        yield* setTable("A", records(2))
        yield* setTable("B", records(3).slice(1))
        const a = yield* client.listPage({ table: "A", view: null })
        const b = yield* client.listPage({ table: "B", view: null })
        const page = (table: string, { next }: Page) =>
          client.listPage({ table, view: null, ...(next === undefined ? {} : { cursor: next }) })
        expect((yield* page("A", a)).records).toEqual(records(2).slice(1))
        expect((yield* page("B", b)).records).toEqual(records(3).slice(2))
      })
    )

    it.scoped("takes any name of a table and any name of a field", () =>
      Effect.gen(function* () {
        const { client, setTable } = yield* make({ pageSize: 10 })
        const fields = JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":null,"":[],"Größe":"€"}')
        for (const table of ["a/b?c=d&e#f", "%2e%2e", "Räume & Wege", "+ =", "__proto__"]) {
          yield* setTable(table, [{ id: "rec0", fields }])
          const { records } = yield* client.listPage({ table, view: "a&b=c" })
          expect(JSON.stringify(records)).toBe(JSON.stringify([{ id: "rec0", fields }]))
        }
      })
    )

    it.scoped("says that there is no such table", () =>
      Effect.gen(function* () {
        const { client } = yield* make({ pageSize: 10 })
        const error = yield* Effect.flip(client.listPage({ table: "Nowhere", view: null }))
        expect(error).toBeInstanceOf(TableError)
        expect(error).toMatchObject({ table: "Nowhere", reason: "NotFound" })
        expect(error.message).toContain('"Nowhere"')
      })
    )

    it.scoped("says that a cursor has expired, and starts anew without it", () =>
      Effect.gen(function* () {
        const { client, expireCursors, setTable } = yield* make({ pageSize: 2 })
        yield* setTable("Objects", records(3))
        const { next = "" } = yield* client.listPage({ table: "Objects", view: null })
        yield* expireCursors
        const error = yield* Effect.flip(client.listPage({ table: "Objects", view: null, cursor: next }))
        expect(error).toBeInstanceOf(CursorExpired)
        const again = yield* client.listPage({ table: "Objects", view: null })
        expect(again.records).toEqual(records(2))
      })
    )

    it.scoped("says that there is no such view, and reads the others and the whole table", () =>
      Effect.gen(function* () {
        const { client, removeView, setTable } = yield* make({ pageSize: 2 })
        yield* setTable("Objects", records(1))
        yield* removeView("Grid view")
        const error = yield* Effect.flip(client.listPage({ table: "Objects", view: "Grid view" }))
        expect(error).toMatchObject({ _tag: "TableError", table: "Objects", reason: "NotFound" })
        expect(error.message).toContain('"Grid view"')
        for (const view of ["On display", null]) {
          expect(yield* client.listPage({ table: "Objects", view })).toEqual({ records: records(1) })
        }
      })
    )

    it.scoped("goes on in the middle of a list, whatever hindered it and whatever was refused", () =>
      Effect.gen(function* () {
        const { client, expireCursors, failNext, hinderNext, setTable } = yield* make({ pageSize: 1 })
        yield* setTable("Objects", records(3))
        const list = { table: "Objects", view: null }
        const lost = yield* client.listPage(list)
        yield* expireCursors
        const goOn = { ...list, cursor: lost.next ?? "" }
        expect(yield* Effect.flip(client.listPage(goOn))).toBeInstanceOf(CursorExpired)
        const first = yield* client.listPage(list)
        yield* hinderNext("failure")
        const second = yield* patiently(client.listPage({ ...list, cursor: first.next ?? "" }))
        yield* failNext(refusal("Refused", 422))
        const third = { ...list, cursor: second.value.next ?? "" }
        yield* Effect.flip(client.listPage(third))
        yield* hinderNext("penalty")
        expect((yield* patiently(client.listPage(third))).value).toEqual({ records: records(3).slice(2) })
        expect([...first.records, ...second.value.records]).toEqual(records(2))
      })
    )

    it.scoped.each(["failure", "penalty"] as const)("waits for the end of a %s, and no longer", (how) =>
      Effect.gen(function* () {
        const { client, hinderNext, setTable } = yield* make({ pageSize: 2 })
        yield* setTable("Objects", records(1))
        const least = how === "failure" ? 1000 : 30_000
        const requests: ReadonlyArray<Effect.Effect<unknown, TableError | CursorExpired>> = [
          client.listPage({ table: "Objects", view: null }),
          client.readRecord({ table: "Objects", recordId: "rec0" })
        ]
        for (const request of requests) {
          const answer = yield* request
          yield* hinderNext(how)
          const hindered = yield* patiently(request)
          expect(hindered.value).toEqual(answer)
          expect(hindered.took).toBeGreaterThanOrEqual(least)
          expect(hindered.took).toBeLessThan(least + 1000)
        }
      })
    )

    it.scoped("gives up at once when nobody waits any more, and is of use afterwards", () =>
      Effect.gen(function* () {
        const { client, hinderNext, setTable } = yield* make({ pageSize: 2 })
        yield* setTable("Objects", records(1))
        const request = client.listPage({ table: "Objects", view: null })
        yield* hinderNext("failure")
        const { took, value } = yield* patiently(Effect.timeoutOption(request, "500 millis"))
        expect({ took, value }).toEqual({ took: 500, value: Option.none() })
        expect(yield* patiently(request)).toEqual({ value: { records: records(1) }, took: 0 })
      })
    )

    it.scoped.each(refusals)("fails at once and once, with the reason: $reason", (refusal) =>
      Effect.gen(function* () {
        const { client, failNext, setTable } = yield* make({ pageSize: 2 })
        yield* setTable("Objects", records(1))
        const requests: ReadonlyArray<Effect.Effect<unknown, TableError | CursorExpired>> = [
          client.listPage({ table: "Objects", view: null }),
          client.readRecord({ table: "Objects", recordId: "rec0" })
        ]
        for (const request of requests) {
          yield* failNext(refusal)
          const { took, value } = yield* patiently(Effect.merge(request))
          const { _tag, reason, status, table } = refusal
          expect(value).toMatchObject({ _tag, reason, status, table })
          expect(took).toBe(0)
          yield* request
        }
      })
    )

    it.scoped("reads one record as it is now, with any name of a field", () =>
      Effect.gen(function* () {
        const { client, setTable } = yield* make({ pageSize: 2 })
        const fields = JSON.parse('{"__proto__":{"a":1},"Größe":"€","Photo":[{"id":"att1"}]}')
        for (const table of ["Objects", "a/b?c=d&e#f", "Räume & Wege"]) {
          yield* setTable(table, [...records(3), { id: "rec/ü?", fields: {} }])
          expect(yield* client.readRecord({ table, recordId: "rec2" })).toEqual(records(3)[2])
          expect(yield* client.readRecord({ table, recordId: "rec/ü?" })).toEqual({
            id: "rec/ü?",
            fields: {}
          })
          yield* setTable(table, [{ id: "rec2", fields }])
          const now = yield* client.readRecord({ table, recordId: "rec2" })
          expect(JSON.stringify(now)).toBe(JSON.stringify({ id: "rec2", fields }))
        }
      })
    )

    it.scoped("says that there is no such record, or no such table", () =>
      Effect.gen(function* () {
        const { client, setTable } = yield* make({ pageSize: 2 })
        yield* setTable("Objects", records(1))
        const record = yield* Effect.flip(client.readRecord({ table: "Objects", recordId: "rec9" }))
        expect(record).toMatchObject({ _tag: "TableError", table: "Objects", reason: "NotFound" })
        expect(record.message).toContain("rec9")
        const table = yield* Effect.flip(client.readRecord({ table: "Nowhere", recordId: "rec0" }))
        expect(table).toMatchObject({ _tag: "TableError", table: "Nowhere", reason: "NotFound" })
      })
    )

    it.scoped("reads a record whatever became of the lists", () =>
      Effect.gen(function* () {
        const { client, expireCursors, setTable } = yield* make({ pageSize: 1 })
        yield* setTable("Objects", records(2))
        yield* client.listPage({ table: "Objects", view: null })
        yield* expireCursors
        const request = { table: "Objects", recordId: "rec0" }
        expect(yield* client.readRecord(request)).toEqual(records(1)[0])
      })
    )
  })
