import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Stream from "effect/Stream"
import type { Pages } from "../../../../src/layers/sources/tables/tableDocuments.ts"
import {
  CursorExpired,
  type Page,
  TableError,
  TableSourceClient
} from "../../../../src/services/TableSourceClient.ts"
import * as TableSourceClientMemory from "../../../../src/testing/TableSourceClientMemory.ts"
import { records } from "../../../../src/testing/tableSourceClientContract.ts"
import { readTable } from "../../../support/readTable.ts"

const collect = (pages: Pages) => Stream.runFold(pages, records(0), (all, page) => [...all, ...page])

const list = { table: "Objects", view: "Grid view" }

/** A client whose n-th response is `answer(n)`. */
const answering = (answer: (request: number) => Effect.Effect<Page, TableError | CursorExpired>) => {
  let requests = 0
  return TableSourceClient.of({
    listPage: () => Effect.suspend(() => answer(requests++)),
    readRecord: () => Effect.dieMessage("only lists are read")
  })
}

describe("readTable", () => {
  it.effect.prop(
    "reads every record once, in order, with any pages",
    [FastCheck.integer({ min: 0, max: 30 }), FastCheck.integer({ min: 1, max: 12 })],
    ([count, pageSize]) =>
      Effect.gen(function* () {
        const { client, requests, setTable } = yield* TableSourceClientMemory.make({ pageSize })
        yield* setTable("Objects", records(count))
        const read = yield* readTable(list, collect).pipe(Effect.provideService(TableSourceClient, client))
        expect(read).toEqual(records(count))
        const asked = yield* requests
        expect(asked).toHaveLength(Math.max(1, Math.ceil(count / pageSize)))
        for (const request of asked) {
          expect(request).toMatchObject(list)
        }
      }),
    { fastCheck: { numRuns: 50 } }
  )

  it.effect("reads the list once more if a record comes on two pages, and fails if it does again", () =>
    Effect.gen(function* () {
      const page = (id: string, next?: string) => ({
        records: [{ id, fields: {} }],
        ...(next !== undefined && { next })
      })
      const read = (answers: ReadonlyArray<Page>) =>
        readTable(list, collect).pipe(
          Effect.provideService(
            TableSourceClient,
            answering((request) => Effect.succeed(answers[request % answers.length] ?? page("rec1")))
          )
        )
      const twice = [page("rec1", "itr1"), page("rec1", "itr2"), page("rec2")]
      const once = [page("rec1", "itr1"), page("rec2")]
      expect((yield* read([...twice.slice(0, 2), ...once])).map(({ id }) => id)).toEqual(["rec1", "rec2"])
      expect((yield* Effect.flip(read(twice.slice(0, 2)))).message).toBe(
        'Table "Objects": the record rec1 is on page 1 and on page 2'
      )
    })
  )

  it.effect("starts again from the first page if the list has expired, three times", () =>
    Effect.gen(function* () {
      let starts = 0
      const expiring = (times: number) =>
        answering((request) =>
          request % 2 === 0
            ? Effect.succeed({ records: records(1), next: `itr${request}` })
            : request < times * 2
              ? new CursorExpired({ table: "Objects" })
              : Effect.succeed({ records: records(2).slice(1) })
        )
      const read = (times: number) =>
        readTable(list, (pages) => {
          starts++
          return collect(pages)
        }).pipe(Effect.provideService(TableSourceClient, expiring(times)))
      expect(yield* read(3)).toEqual(records(2))
      expect(starts).toBe(4)
      const error = yield* Effect.flip(read(4))
      expect(starts).toBe(8)
      expect(error.message).toBe('Table "Objects": the server forgot the list before its end')
    })
  )

  it.effect("fails with the error of a page", () =>
    Effect.gen(function* () {
      const { client, failNext, setTable } = yield* TableSourceClientMemory.make()
      yield* setTable("Objects", records(1))
      yield* failNext(new TableError({ table: "Objects", reason: "ServerError", detail: "broken" }))
      const error = yield* Effect.flip(
        readTable(list, collect).pipe(Effect.provideService(TableSourceClient, client))
      )
      expect(error).toMatchObject({ reason: "ServerError" })
    })
  )

  it.effect.each([
    ["offsets that come again", (request: number) => `itr${request % 3}`, () => []],
    ["pages that bring nothing new", () => "itr", () => records(1)]
  ] as const)("fails if the pages form a circle: %s", ([, next, recordsOf]) =>
    Effect.gen(function* () {
      const client = answering((request) => Effect.succeed({ records: recordsOf(), next: next(request) }))
      const error = yield* Effect.flip(
        readTable(list, collect).pipe(Effect.provideService(TableSourceClient, client))
      )
      expect(error).toMatchObject({ _tag: "vitrine/TableError", reason: "UnexpectedAnswer" })
      expect(error.message).toContain("circle")
    })
  )

  it.effect("fails after a limit of pages, even if every page has new records", () =>
    Effect.gen(function* () {
      let asked = 0
      const client = answering((request) => {
        asked++
        return Effect.succeed({ records: [{ id: `rec${request}`, fields: {} }], next: `itr${request}` })
      })
      const error = yield* Effect.flip(
        readTable(list, Stream.runDrain).pipe(Effect.provideService(TableSourceClient, client))
      )
      expect(error).toMatchObject({
        _tag: "vitrine/TableError",
        table: "Objects",
        reason: "UnexpectedAnswer"
      })
      expect(error.message).toContain("more than 10000 pages")
      expect(asked).toBe(10_000)
    })
  )
  it.effect("fails after a limit of records, with pages of any size", () =>
    Effect.gen(function* () {
      const page = (request: number) =>
        Array.from({ length: 200_000 }, (_, index) => ({ id: `rec${request}-${index}`, fields: {} }))
      let count = 0
      const client = answering((request) => Effect.succeed({ records: page(request), next: `itr${request}` }))
      const counting = Stream.runForEach((records: ReadonlyArray<unknown>) =>
        Effect.sync(() => {
          count += records.length
        })
      )
      const read = readTable(list, counting).pipe(Effect.provideService(TableSourceClient, client))
      expect(Cause.pretty(yield* Effect.flip(Effect.sandbox(read)))).toContain("more than 1,000,000 records")
      expect(count).toBe(1_000_000)
    })
  )
})
