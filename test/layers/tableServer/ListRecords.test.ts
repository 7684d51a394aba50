import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { fieldId } from "../../../src/layers/tableServer/identifiers.ts"
import { decodeListQuery, type QueryParameters } from "../../../src/layers/tableServer/ListQuery.ts"
import {
  decodeOffset,
  encodeOffset,
  listPage,
  offsetLifetimeMs,
  withFieldIds
} from "../../../src/layers/tableServer/ListRecords.ts"
import type { ServedRecord, Table } from "../../../src/layers/tableServer/Table.ts"
import type { Views } from "../../../src/layers/tableServer/Views.ts"
import { numberedTable, tableOf } from "../../support/tableRecords.ts"

/** All pages; more than there are records would be a walk without end. */
const walk = (table: Table, views: Views, parameters: QueryParameters) =>
  Either.gen(function* () {
    const query = yield* decodeListQuery(parameters)
    const pages: Array<ReadonlyArray<ServedRecord>> = []
    let next: number | undefined = 0
    while (next !== undefined && pages.length <= table.records.length) {
      const page: { records: ReadonlyArray<ServedRecord>; next?: number } = yield* listPage(
        table,
        views,
        query,
        next
      )
      pages.push(page.records)
      next = page.next
    }
    return pages
  })

const refusal = (table: Table, parameters: QueryParameters, views: Views = {}): string =>
  Either.match(walk(table, views, parameters), {
    onLeft: ({ message }) => message,
    onRight: () => "accepted"
  })

describe("listPage", () => {
  it.prop(
    "pages hold each record once, in order, and none but the last is short",
    [FastCheck.nat(250), FastCheck.integer({ min: 1, max: 100 })],
    ([length, pageSize]) => {
      const table = numberedTable(length)
      const pages = Either.getOrThrow(walk(table, {}, { pageSize: String(pageSize) }))
      assert.deepStrictEqual(pages.flat(), table.records)
      assert.strictEqual(pages.length, Math.max(1, Math.ceil(length / pageSize)))
      assert.isTrue(pages.slice(0, -1).every((page) => page.length === pageSize))
    }
  )

  it.prop(
    "maxRecords cuts the whole list, not each page",
    [FastCheck.nat(50), FastCheck.integer({ min: 1, max: 20 }), FastCheck.integer({ min: 1, max: 60 })],
    ([length, pageSize, maxRecords]) => {
      const table = numberedTable(length)
      const parameters = { pageSize: String(pageSize), maxRecords: String(maxRecords) }
      const pages = Either.getOrThrow(walk(table, {}, parameters))
      assert.deepStrictEqual(pages.flat(), table.records.slice(0, maxRecords))
    }
  )

  it("responses with the fields that are asked for", () => {
    const table = tableOf([{ Title: "Vase", Year: 1900, Room: 3 }])
    const [page = []] = Either.getOrThrow(walk(table, {}, { "fields[]": ["Room", "Title"] }))
    assert.deepStrictEqual(page[0]?.fields, { Title: "Vase", Room: 3 })
  })

  it("knows fields by their ids, and can answer with these", () => {
    const table = tableOf([{ Title: "Vase", Year: 1900 }, { Title: "Axe" }])
    const id = (field: string) => fieldId("Objects", field)
    const parameters = { "fields[]": [id("Title")], "sort[0][field]": id("Title") }
    const [page = []] = Either.getOrThrow(walk(table, {}, parameters))
    assert.deepStrictEqual(
      page.map(({ fields }) => fields),
      [{ Title: "Axe" }, { Title: "Vase" }]
    )
    assert.deepStrictEqual(
      withFieldIds(table, table.records).map(({ fields }) => fields),
      [{ [id("Title")]: "Vase", [id("Year")]: 1900 }, { [id("Title")]: "Axe" }]
    )
    assert.match(id("Title"), /^fld[a-zA-Z0-9]{14}$/)
    assert.notStrictEqual(id("Title"), fieldId("Rooms", "Title"))
  })

  it("shows a view, in the order asked for if there is one", () => {
    const table = tableOf([
      { n: 1, on: true },
      { n: 2, on: false },
      { n: 3, on: true }
    ])
    const views: Views = {
      Objects: { On: { filter: { on: true }, sort: [{ field: "n", direction: "desc" }] } }
    }
    const numbers = (parameters: QueryParameters) =>
      Either.getOrThrow(walk(table, views, parameters))
        .flat()
        .map(({ fields }) => fields.n)
    assert.deepStrictEqual(numbers({ view: "On" }), [3, 1])
    assert.deepStrictEqual(numbers({ view: "On", "sort[0][field]": "n" }), [1, 3])
    assert.deepStrictEqual(numbers({}), [1, 2, 3])
  })

  it("says what there is when a view or field is unknown", () => {
    const table = tableOf([{ Title: "Vase" }])
    assert.match(refusal(table, { view: "Gone" }), /422.*VIEW_NAME_NOT_FOUND.*Gone.*Grid view/)
    assert.match(refusal(table, { "fields[]": "Name" }), /422.*UNKNOWN_FIELD_NAME.*Name.*Title/)
    assert.match(refusal(table, { "sort[0][field]": "Name" }), /422.*UNKNOWN_FIELD_NAME.*Name.*Title/)
  })

  it("refuses a view that uses a field nobody has", () => {
    const views: Views = { Objects: { Published: { filter: { Sttus: "x" } } } }
    const message = refusal(tableOf([{ Status: "x" }]), { view: "Published" }, views)
    assert.match(message, /INVALID_TABLE_FILE.*views\.json.*Published.*Objects.*Sttus/)
  })
})

const identifier = FastCheck.stringMatching(/^[a-zA-Z0-9]{1,20}$/)
const offset = FastCheck.record({
  issuer: identifier,
  tableId: identifier,
  issuedAt: FastCheck.integer({ min: 0, max: 4e12 }),
  index: FastCheck.nat()
})

describe("ListOffset", () => {
  it.prop(
    "is good for its table and server while it is fresh",
    [offset, FastCheck.nat(offsetLifetimeMs)],
    ([given, age]) => {
      const decoded = decodeOffset(encodeOffset(given), { ...given, issuedAt: given.issuedAt + age })
      assert.deepStrictEqual(decoded, Either.right(given.index))
    }
  )

  it.prop("is good for nothing else", [offset, identifier], ([given, other]) => {
    FastCheck.pre(other !== given.issuer && other !== given.tableId)
    const text = encodeOffset(given)
    const elsewhere = [
      { ...given, issuer: other },
      { ...given, tableId: other },
      { ...given, issuedAt: given.issuedAt + offsetLifetimeMs + 1 }
    ]
    for (const here of elsewhere) {
      assert.isTrue(Either.isLeft(decodeOffset(text, here)))
    }
  })

  it.prop("is never made of other text", [offset, FastCheck.string()], ([given, garbage]) => {
    for (const text of [
      garbage,
      `${encodeOffset(given)}${garbage || "="}`,
      encodeOffset(given).replaceAll("+", " ")
    ]) {
      assert.isTrue(Either.isLeft(decodeOffset(text, given)))
    }
  })

  it.prop("holds what an unencoded query would break", [offset], ([given]) => {
    for (const character of "/+=&") {
      assert.include(encodeOffset(given), character)
    }
  })
})
