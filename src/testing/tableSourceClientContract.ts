/**
 * The contract of every `TableSourceClient`.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import {
  CursorExpired,
  type Page,
  type PageRequest,
  type RecordRequest,
  TableError,
  type TableRecord,
  type TableSourceClient
} from "../services/TableSourceClient.ts"
import { withAdvancingClock } from "./advancingClock.ts"
import { type Case, runCase } from "./runCase.ts"

/**
 * A client of tables, with controls for the tables and for failures.
 *
 * @since 0.1.0
 * @category models
 */
export interface TableSourceClientHarness {
  readonly client: typeof TableSourceClient.Service
  readonly setTable: (table: string, records: ReadonlyArray<TableRecord>) => Effect.Effect<void>
  /** The next request is rejected permanently: the server responds with the status of the error. */
  readonly failNext: (error: TableError) => Effect.Effect<void>
  /** The next request must be retried later, for one of the reasons in `waits`. */
  readonly delayNext: (reason: string) => Effect.Effect<void>
  /** The view no longer exists. Before, every view exists and has the whole table. */
  readonly removeView: (view: string) => Effect.Effect<void>
  /** The server forgets all lists that are being read. */
  readonly expireCursors: Effect.Effect<void>
}

/**
 * The abilities of a client and its API.
 *
 * @since 0.1.0
 * @category models
 */
export interface TableSourceClientTraits {
  /**
   * Why a request is retried, and after how many milliseconds, for example `{ failure: 1000 }`. The retry may come up
   * to a second later. Default: nothing is retried.
   */
  readonly waits?: Readonly<Record<string, number>> | undefined
  /** Whether tables have views. Default true. */
  readonly views?: boolean | undefined
  /** Whether the server may forget a list before its end. Default true. */
  readonly cursorsExpire?: boolean | undefined
}

/** The longest wait of a request for its turn, in milliseconds. */
const pace = 1000

const inTurn = <A, E, R>(request: Effect.Effect<A, E, R>) =>
  Effect.map(withAdvancingClock(request), ({ value }) => value)

/** Also returns the duration in milliseconds. */
const timed = <A, E, R>(request: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.timed(request), ([took, value]) => [Duration.toMillis(took), value] as const)

export const records = (count: number): ReadonlyArray<TableRecord> =>
  Array.from({ length: count }, (_, index) => ({ id: `rec${index}`, fields: { Number: index } }))

const refusal = (reason: TableError["reason"], status: number) =>
  new TableError({ table: "Objects", reason, status, detail: "as the test wants it" })

/** One error for each reason without a retry. */
const refusals = [
  refusal("Unauthorized", 401),
  refusal("NotFound", 404),
  refusal("Refused", 422),
  refusal("RateLimited", 429),
  refusal("UnexpectedAnswer", 200)
]

/**
 * `make` gives a new harness each time, with `pageSize` records in a page. The tests run by `TestClock`, which goes
 * on whenever the client waits and no request is in progress. Real sockets are allowed, and so is a client that
 * delays each request by less than a second. The message of a `NotFound` has to name the missing thing: the table,
 * the view, the field or the id of the record.
 *
 * @since 0.1.0
 * @category testing
 */
export const tableSourceClientContract = (
  name: string,
  make: (options: {
    readonly pageSize: number
  }) => Effect.Effect<TableSourceClientHarness, unknown, Scope.Scope>,
  { cursorsExpire = true, views = true, waits = {} }: TableSourceClientTraits = {}
) => {
  const reasons = Object.keys(waits)

  /** The harness, with requests that may wait for their turn. */
  const setUp = Effect.map(make({ pageSize: 2 }), ({ client, ...harness }) => {
    const listPage = (request: PageRequest) => inTurn(client.listPage(request))
    const readRecord = (request: RecordRequest) => inTurn(client.readRecord(request))
    const ofEachKind: ReadonlyArray<Effect.Effect<unknown, TableError | CursorExpired>> = [
      listPage({ table: "Objects", view: null }),
      readRecord({ table: "Objects", recordId: "rec0" })
    ]
    return { ...harness, client, listPage, readRecord, ofEachKind }
  })
  const scenario = (title: string, test: Case<Effect.Effect.Success<typeof setUp>>) =>
    it.effect(title, () => runCase(setUp, test))
  const view = views ? "Grid view" : null

  describe(`${name} as a TableSourceClient`, () => {
    scenario("gives all records in order, page by page", function* ({ listPage, setTable }) {
      yield* setTable("Objects", records(5))
      const first = yield* listPage({ table: "Objects", view })
      const pages: Array<Page> = [first]
      for (let cursor = first.next; cursor !== undefined; cursor = pages.at(-1)?.next) {
        pages.push(yield* listPage({ table: "Objects", view, cursor }))
      }
      expect(pages.map(({ records }) => records.length)).toEqual([2, 2, 1])
      expect(pages.flatMap(({ records }) => records)).toEqual(records(5))
    })

    scenario(
      "ends with a full page, and an empty table with an empty page",
      function* ({ listPage, setTable }) {
        yield* setTable("Two", records(2))
        yield* setTable("None", [])
        expect(yield* listPage({ table: "Two", view: null })).toEqual({ records: records(2) })
        expect(yield* listPage({ table: "None", view: null })).toEqual({ records: [] })
      }
    )

    scenario("keeps concurrent reads of lists apart", function* ({ listPage, setTable }) {
      yield* setTable("A", records(3))
      yield* setTable("B", records(4).slice(1))
      const a = yield* listPage({ table: "A", view: null })
      const b = yield* listPage({ table: "B", view: null })
      const page = (table: string, { next }: Page) => listPage({ table, view: null, cursor: next })
      expect((yield* page("A", a)).records).toEqual(records(3).slice(2))
      expect((yield* page("B", b)).records).toEqual(records(4).slice(3))
    })

    scenario("accepts any name of a table and of a field", function* ({ listPage, setTable }) {
      const fields = { constructor: 2, toString: null, "": [], Größe: "€" }
      for (const table of ["a/b?c=d&e#f", "%2e%2e", "Räume & Wege", "+ =", "__proto__"]) {
        yield* setTable(table, [{ id: "rec0", fields }])
        const { records } = yield* listPage({ table, view: views ? "a&b=c" : null })
        expect(JSON.stringify(records)).toBe(JSON.stringify([{ id: "rec0", fields }]))
      }
    })

    scenario(
      "returns only the requested fields, and says that there is no such field",
      function* ({ listPage, setTable }) {
        const rows = [
          { id: "rec0", fields: { Name: "Bell", "a&b[]=": 1, Year: 1815 } },
          { id: "rec1", fields: { Year: 1902 } }
        ]
        yield* setTable("Objects", rows)
        const { records } = yield* listPage({ table: "Objects", view, fields: ["a&b[]=", "Name"] })
        expect(records).toEqual([
          { id: "rec0", fields: { Name: "Bell", "a&b[]=": 1 } },
          { id: "rec1", fields: {} }
        ])
        const error = yield* Effect.flip(listPage({ table: "Objects", view, fields: ["Name", "Title"] }))
        expect(error).toMatchObject({ _tag: "vitrine/TableError", table: "Objects", reason: "NotFound" })
        expect(error.message).toContain("Title")
      }
    )

    scenario("says that there is no such table", function* ({ listPage }) {
      const error = yield* Effect.flip(listPage({ table: "Nowhere", view: null }))
      expect(error).toBeInstanceOf(TableError)
      expect(error).toMatchObject({ table: "Nowhere", reason: "NotFound" })
      expect(error.message).toContain("Nowhere")
    })

    if (cursorsExpire) {
      scenario(
        "says that a cursor has expired, and starts again without it",
        function* ({ expireCursors, listPage, setTable }) {
          yield* setTable("Objects", records(3))
          const { next = "" } = yield* listPage({ table: "Objects", view: null })
          yield* expireCursors
          const error = yield* Effect.flip(listPage({ table: "Objects", view: null, cursor: next }))
          expect(error).toBeInstanceOf(CursorExpired)
          const again = yield* listPage({ table: "Objects", view: null })
          expect(again.records).toEqual(records(2))
        }
      )
    }

    if (views) {
      scenario(
        "says that there is no such view, and reads other views and the whole table",
        function* ({ listPage, removeView, setTable }) {
          yield* setTable("Objects", records(1))
          yield* removeView("Grid view")
          const error = yield* Effect.flip(listPage({ table: "Objects", view: "Grid view" }))
          expect(error).toMatchObject({ _tag: "vitrine/TableError", table: "Objects", reason: "NotFound" })
          expect(error.message).toContain("Grid view")
          for (const view of ["On display", null]) {
            expect(yield* listPage({ table: "Objects", view })).toEqual({ records: records(1) })
          }
        }
      )
    }

    scenario(
      "continues in the middle of a list after delays and rejected requests",
      function* ({ delayNext, expireCursors, failNext, listPage, setTable }) {
        const all = records(2 * reasons.length + 4)
        yield* setTable("Objects", all)
        const list = { table: "Objects", view: null }
        const following = ({ next = "" }: Page) => ({ ...list, cursor: next })
        if (cursorsExpire) {
          const lost = yield* listPage(list)
          yield* expireCursors
          expect(yield* Effect.flip(listPage(following(lost)))).toBeInstanceOf(CursorExpired)
        }
        let page = yield* listPage(list)
        const read = [...page.records]
        for (const reason of reasons) {
          yield* delayNext(reason)
          page = yield* listPage(following(page))
          read.push(...page.records)
        }
        yield* failNext(refusal("Refused", 422))
        yield* Effect.flip(listPage(following(page)))
        expect(yield* listPage(following(page))).toEqual({ records: all.slice(-2) })
        expect(read).toEqual(all.slice(0, -2))
      }
    )

    for (const [reason, least] of Object.entries(waits)) {
      scenario(
        `tries again after the time of a ${reason}, and no later`,
        function* ({ delayNext, ofEachKind, setTable }) {
          yield* setTable("Objects", records(1))
          for (const request of ofEachKind) {
            const response = yield* request
            yield* delayNext(reason)
            const [took, delayed] = yield* timed(request)
            expect(delayed).toEqual(response)
            expect(took).toBeGreaterThanOrEqual(least)
            expect(took).toBeLessThan(least + pace)
          }
        }
      )

      scenario(
        `stops waiting after a ${reason} if its callers stop waiting, and works afterwards`,
        function* ({ client, delayNext, listPage, setTable }) {
          yield* setTable("Objects", records(1))
          const request = { table: "Objects", view: null }
          yield* delayNext(reason)
          const { took, value } = yield* withAdvancingClock(
            Effect.timeoutOption(client.listPage(request), least / 2)
          )
          expect({ took, value }).toEqual({ took: least / 2, value: Option.none() })
          expect(yield* listPage(request)).toEqual({ records: records(1) })
        }
      )
    }

    for (const refusal of refusals) {
      scenario(
        `fails at once and once, with the reason: ${refusal.reason}`,
        function* ({ failNext, ofEachKind, setTable }) {
          yield* setTable("Objects", records(1))
          for (const request of ofEachKind) {
            yield* failNext(refusal)
            const [took, value] = yield* timed(Effect.merge(request))
            const { _tag, reason, status, table } = refusal
            expect(value).toMatchObject({ _tag, reason, status, table })
            expect(took).toBeLessThan(pace)
            yield* request
          }
        }
      )
    }

    scenario(
      "reads the current state of a record, with any name of a field",
      function* ({ readRecord, setTable }) {
        const fields = { constructor: 2, Größe: "€", Photo: [{ id: "att1" }] }
        for (const table of ["Objects", "a/b?c=d&e#f", "Räume & Wege"]) {
          yield* setTable(table, [...records(3), { id: "rec/ü?", fields: {} }])
          expect(yield* readRecord({ table, recordId: "rec2" })).toEqual(records(3)[2])
          expect(yield* readRecord({ table, recordId: "rec/ü?" })).toEqual({
            id: "rec/ü?",
            fields: {}
          })
          yield* setTable(table, [{ id: "rec2", fields }])
          const now = yield* readRecord({ table, recordId: "rec2" })
          expect(JSON.stringify(now)).toBe(JSON.stringify({ id: "rec2", fields }))
        }
      }
    )

    scenario("says that there is no such record, or no such table", function* ({ readRecord, setTable }) {
      yield* setTable("Objects", records(1))
      const record = yield* Effect.flip(readRecord({ table: "Objects", recordId: "rec9" }))
      expect(record).toMatchObject({ _tag: "vitrine/TableError", table: "Objects", reason: "NotFound" })
      expect(record.message).toContain("rec9")
      const table = yield* Effect.flip(readRecord({ table: "Nowhere", recordId: "rec0" }))
      expect(table).toMatchObject({ _tag: "vitrine/TableError", table: "Nowhere", reason: "NotFound" })
    })

    scenario(
      "reads a record, also after the cursors of lists have expired",
      function* ({ expireCursors, listPage, readRecord, setTable }) {
        yield* setTable("Objects", records(3))
        yield* listPage({ table: "Objects", view: null })
        if (cursorsExpire) {
          yield* expireCursors
        }
        const request = { table: "Objects", recordId: "rec0" }
        expect(yield* readRecord(request)).toEqual(records(1)[0])
      }
    )
  })
}
