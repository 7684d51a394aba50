/**
 * Lists in pages, of every shape, while records are added.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { readAgain } from "../../../../src/layers/documents/wholeList.ts"
import { RequestFailed } from "../../../../src/layers/httpClient/Requests.ts"
import { JsonSourceOptions } from "../../../../src/layers/sources/json/JsonSourceOptions.ts"
import { readDocument } from "../../../../src/layers/sources/json/jsonSource.ts"

interface Item {
  readonly id: number
}

const decodeItems = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ id: Schema.Number })))

const decodeOptions = Schema.decodeUnknownSync(JsonSourceOptions)

/** The current response of a server about its items. */
type Respond = (
  url: URL,
  items: ReadonlyArray<Item>
) =>
  | {
      readonly json: unknown
      readonly link?: string
      readonly headers?: Readonly<Record<string, string>>
    }
  | { readonly status: number; readonly body: string }

interface Shape {
  readonly document: Readonly<Record<string, string | false>>
  readonly respond: Respond
  /** Whether a list of one page looks the same as a mistake in the document. */
  readonly needsTwoPages?: boolean
}

const numberOf = (url: URL, name: string, standard: number) => Number(url.searchParams.get(name) ?? standard)

const byPage = (url: URL, items: ReadonlyArray<Item>, first = 1) => {
  const size = numberOf(url, "limit", 10)
  const page = numberOf(url, "page", first)
  const start = (page - first) * size
  return { records: items.slice(start, start + size), more: start + size < items.length, page }
}

const byOffset = (url: URL, items: ReadonlyArray<Item>) => {
  const skip = numberOf(url, "skip", 0)
  return items.slice(skip, skip + numberOf(url, "limit", 10))
}

const nextUrl = (url: URL, page: number): string => {
  const next = new URL(url)
  next.searchParams.set("page", String(page))
  return next.href
}

const afterItem = (url: URL, items: ReadonlyArray<Item>) => {
  const after = url.searchParams.get("cursor")
  const start = after === null ? 0 : items.findIndex(({ id }) => String(id) === after) + 1
  const size = numberOf(url, "limit", 10)
  const records = items.slice(start, start + size)
  return { records, next: start + size < items.length ? records.at(-1)?.id : undefined }
}

const shapes: Readonly<Record<string, Shape>> = {
  "a Link header": {
    document: { next: "link" },
    respond: (url, items) => {
      const { more, page, records } = byPage(url, items)
      const first = `<${nextUrl(url, 1)}>; rel="first"; title="a, b; c"`
      return { json: records, link: more ? `${first}, <${nextUrl(url, page + 1)}>; rel="next"` : first }
    }
  },
  "a URL in the body": {
    document: { items: "data.items", next: "links.next" },
    respond: (url, items) => {
      const { more, page, records } = byPage(url, items)
      return { json: { data: { items: records }, links: { next: more ? nextUrl(url, page + 1) : null } } }
    }
  },
  "a relative URL in the body, whose last page leads to itself": {
    document: { items: "value", next: "@odata.nextLink" },
    needsTwoPages: true,
    respond: (url, items) => {
      const { more, page, records } = byPage(url, items)
      return {
        json: {
          value: records,
          "@odata.nextLink": `?limit=${url.searchParams.get("limit")}&page=${more ? page + 1 : page}`
        }
      }
    }
  },
  "a token": {
    document: { items: "results", next: "cursor", cursor: "cursor" },
    respond: (url, items) => {
      const { next, records } = afterItem(url, items)
      return { json: { results: records, cursor: next } }
    }
  },
  "a page number": {
    document: { page: "page" },
    respond: (url, items) => ({ json: byPage(url, items).records })
  },
  "a page number from 0, with the size of a page": {
    document: { url: "https://museum.example/items?page=0", page: "page", size: "limit" },
    respond: (url, items) => ({ json: byPage(url, items, 0).records })
  },
  "a page number, on a server that repeats its last page": {
    document: { page: "page" },
    needsTwoPages: true,
    respond: (url, items) => {
      const last = Math.max(1, Math.ceil(items.length / numberOf(url, "limit", 10)))
      const page = Math.min(numberOf(url, "page", 1), last)
      return { json: byPage(new URL(nextUrl(url, page)), items).records }
    }
  },
  "an offset": {
    document: { offset: "skip" },
    respond: (url, items) => ({ json: byOffset(url, items) })
  },
  "an offset, on a server that gives fewer than it is asked for": {
    document: { items: "items", offset: "skip", total: "total" },
    respond: (url, items) => ({ json: { items: byOffset(url, items).slice(0, 3), total: items.length } })
  },
  "an offset and a total": {
    document: { items: "items", offset: "skip", total: "meta.total" },
    respond: (url, items) => ({ json: { items: byOffset(url, items), meta: { total: items.length } } })
  }
}

interface Server {
  readonly items: ReadonlyArray<Item>
  readonly size: number
  /** Items that are added before the responses to further requests, each at a place. */
  readonly added: ReadonlyArray<{ readonly request: number; readonly place: number }>
}

const server = FastCheck.record<Server>({
  items: FastCheck.integer({ min: 0, max: 30 }).map((length) => Array.from({ length }, (_, id) => ({ id }))),
  size: FastCheck.integer({ min: 1, max: 12 }),
  added: FastCheck.array(
    FastCheck.record({
      request: FastCheck.integer({ min: 1, max: 12 }),
      place: FastCheck.double({ min: 0, max: 1, noNaN: true })
    }),
    { maxLength: 2 }
  )
})

/** The items read from a server, the number of requests, and the final items of the server. */
const read = (shape: Shape, { added, items, size }: Server) =>
  Effect.gen(function* () {
    const base = String(shape.document.url ?? "https://museum.example/items")
    const url = `${base}${base.includes("?") ? "&" : "?"}limit=${size}`
    const { documents } = decodeOptions({
      id: "museum",
      documents: { items: { ...shape.document, url } }
    })
    const now = [...items]
    let requests = 0
    const get = (address: string) =>
      Effect.suspend(() => {
        for (const { place, request } of added) {
          if (request === requests)
            now.splice(Math.floor(place * (now.length + 1)), 0, { id: 1000 + now.length })
        }
        requests++
        const answer = shape.respond(new URL(address), now)
        if ("status" in answer) {
          return new RequestFailed({
            url: address,
            detail: `the server responds with HTTP ${answer.status}`,
            isTransient: false,
            ...answer
          })
        }
        const { headers, json, link } = answer
        return Effect.succeed({
          url: address,
          status: 200,
          text: JSON.stringify(json),
          headers: { ...headers, ...(link !== undefined && { link }) },
          hide: (text: string) => text
        })
      })
    const document = documents.items
    if (document === undefined) return yield* Effect.dieMessage("no document")
    const { content } = readDocument({ get }, "items", document)
    if (content._tag !== "Records") return yield* Effect.dieMessage("no pages")
    const pages = Chunk.toReadonlyArray(yield* readAgain(Stream.runCollect(content.pages)))
    const ids = decodeItems(pages.flat()).map(({ id }) => id)
    return { ids, requests }
  })

const few = { fastCheck: { numRuns: 30 } }

describe.each(Object.entries(shapes))("a list by %s", (_, shape) => {
  const servers = server.filter(({ items, size }) => shape.needsTwoPages !== true || items.length > size)

  it.effect.prop(
    "is read to its end, with no record missing or repeated",
    [servers],
    ([given]) =>
      Effect.gen(function* () {
        const { ids, requests } = yield* read(shape, { ...given, added: [] })
        expect(ids).toEqual(given.items.map(({ id }) => id))
        expect(requests).toBeLessThanOrEqual(Math.ceil(given.items.length / Math.min(given.size, 3)) + 4)
      }),
    few
  )

  it.effect.prop(
    "is complete or an error while records are added",
    [servers],
    ([given]) =>
      Effect.gen(function* () {
        const result = yield* Effect.either(read(shape, given))
        if (Either.isLeft(result)) {
          expect(result.left).toMatchObject({ _tag: "vitrine/ListChanged" })
          return
        }
        const { ids } = result.right
        expect(new Set(ids).size).toBe(ids.length)
        expect(ids).toEqual(expect.arrayContaining(given.items.map(({ id }) => id)))
      }),
    few
  )
})

describe("a list whose first page links to itself", () => {
  const items = [{ id: 1 }, { id: 2 }]
  const readItself = (document: Shape["document"], respond: Respond) =>
    read({ document, respond }, { items, size: 1, added: [] })

  it.effect("is an error, because its other pages would be missing", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        readItself({ items: "data", next: "links.self" }, (url) => ({
          json: { data: items.slice(0, 1), links: { self: url.href } }
        }))
      )
      expect(String(error)).toContain(
        'page 1: the next page is page 1 again. Is "links.self" the path to the address of the page behind it?'
      )
    })
  )

  it.effect("is an error if the second page has another URL and the same records", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        readItself({ next: "link" }, () => ({ json: items, link: '<?limit=1&p=1>; rel="next"' }))
      )
      expect(String(error)).toContain(
        'page 2: the next page is page 1 again. Is the "Link" header that of the page behind it?'
      )
    })
  )

  it.effect("ends if the page is empty", () =>
    Effect.gen(function* () {
      const { ids, requests } = yield* readItself({ items: "data", next: "links.self" }, (url) => ({
        json: { data: [], links: { self: url.href } }
      }))
      expect([ids, requests]).toEqual([[], 1])
    })
  )
})

describe("a record that comes twice", () => {
  const readPages = (readings: ReadonlyArray<ReadonlyArray<ReadonlyArray<unknown>>>) => {
    let reading = -1
    return read(
      {
        document: { page: "page" },
        respond: (url) => {
          const page = numberOf(url, "page", 1)
          if (page === 1) reading++
          return { json: readings[Math.min(reading, readings.length - 1)]?.[page - 1] ?? [] }
        }
      },
      { items: [], size: 10, added: [] }
    )
  }

  it.effect("causes the list to be read once more if it is on two pages", () =>
    Effect.gen(function* () {
      const twice = [[{ id: 1 }], [{ id: 1 }, { id: 2 }]]
      expect((yield* readPages([twice, [[{ id: 1 }], [{ id: 2 }]]])).ids).toEqual([1, 2])
      expect(String(yield* Effect.flip(readPages([twice])))).toContain(
        'Document "items": the record 1 is on page 1 and on page 2. If these are two records: "key" lists the fields that identify a record'
      )
    })
  )

  it.effect("is saved twice if it is twice on one page", () =>
    Effect.gen(function* () {
      expect((yield* readPages([[[{ id: 1 }, { id: 1 }], [{ id: 2 }]]])).ids).toEqual([1, 1, 2])
    })
  )
})

describe("a list that has fewer records than its server states", () => {
  const items = [{ id: 1 }, { id: 2 }, { id: 3 }]
  const list = (document: Shape["document"], headers: Readonly<Record<string, string>>, body: object = {}) =>
    read(
      {
        document,
        respond: (url) => ({
          json:
            document.items === undefined ? byOffset(url, items) : { items: byOffset(url, items), ...body },
          headers
        })
      },
      { items, size: 2, added: [] }
    )
  const states = [
    ["in the answer", { items: "items", offset: "skip", total: "meta.total" }, {}, { meta: { total: 4 } }],
    ["in the answer, as text", { items: "items", offset: "skip", total: "count" }, {}, { count: "4" }],
    ["in X-WP-Total", { offset: "skip" }, { "x-wp-total": "4" }, {}],
    ["in X-Total-Count", { offset: "skip" }, { "x-total-count": "4" }, {}],
    ["in Content-Range", { offset: "skip" }, { "content-range": "items 0-1/4" }, {}]
  ] as const

  it.effect.each(states)(
    "%s is read once more, and then is an error with both numbers",
    ([, document, headers, body]) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(list(document, headers, body))
        expect(String(error)).toContain("the list ends after 3 records, but the server says that there are 4")
        expect(String(error)).toContain("total: false")
        const { ids } = yield* list({ ...document, total: false }, headers, body)
        expect(ids).toEqual([1, 2, 3])
      })
  )

  it.effect("in pages is an error, too", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        list({ items: "items", next: "next", total: "meta.pageCount" }, {}, { meta: { pageCount: 2 } })
      )
      expect(String(error)).toContain("the list ends after 1 page, but the server says that there are 2")
    })
  )

  it.effect("is complete if it begins after the first record", () =>
    Effect.gen(function* () {
      const { ids } = yield* list(
        { url: "https://museum.example/items?skip=1", offset: "skip" },
        { "x-total-count": "3" }
      )
      expect(ids).toEqual([2, 3])
    })
  )
})

describe("a list whose server", () => {
  const all = Array.from({ length: 250 }, (_, id) => ({ id }))
  const ids = all.map(({ id }) => id)
  const asked = (document: Shape["document"], respond: Respond) =>
    read({ document, respond }, { items: [], size: 1000, added: [] })

  it.effect("returns smaller pages than requested continues where the page ended", () =>
    Effect.gen(function* () {
      const capped = (url: URL) => byOffset(url, all).slice(0, 100)
      expect((yield* asked({ offset: "skip", size: "limit" }, (url) => ({ json: capped(url) }))).ids).toEqual(
        ids
      )
      const uneven = (url: URL) => byOffset(url, all).slice(0, 60 + (numberOf(url, "skip", 0) % 7))
      expect((yield* asked({ offset: "skip", size: "limit" }, (url) => ({ json: uneven(url) }))).ids).toEqual(
        ids
      )
      expect(
        (yield* asked({ page: "page", size: "limit" }, (url) => {
          const start = (numberOf(url, "page", 1) - 1) * 100
          return { json: all.slice(start, start + 100) }
        })).ids
      ).toEqual(ids)
    })
  )

  it.effect("returns smaller pages, but skips as many records as requested, is asked for smaller pages", () =>
    Effect.gen(function* () {
      const skipping: Respond = (url) => {
        const start = (numberOf(url, "page", 1) - 1) * numberOf(url, "limit", 10)
        return { json: all.slice(start, start + Math.min(100, numberOf(url, "limit", 10))) }
      }
      expect((yield* asked({ page: "page", size: "limit" }, skipping)).ids).toEqual(ids)
    })
  )

  it.effect("refuses a page that it has linked to is an error", () =>
    Effect.gen(function* () {
      const respond: Respond = (url) =>
        numberOf(url, "page", 1) === 1
          ? { json: all, link: "<?page=2>; rel=next" }
          : { status: 404, body: "" }
      expect(String(yield* Effect.flip(asked({ next: "link" }, respond)))).toContain("HTTP 404")
    })
  )

  it.effect("states a total that is too small is read to its end or is an error", () =>
    Effect.gen(function* () {
      const paged = (total: (records: number) => unknown) =>
        asked({ items: "items", page: "page", total: "count" }, (url) => {
          const start = (numberOf(url, "page", 1) - 1) * 100
          const items = all.slice(start, start + 100)
          return { json: { items, count: total(items.length) } }
        })
      for (const total of [100, 150, 200, 249, "200"]) expect((yield* paged(() => total)).ids).toEqual(ids)
      expect(String(yield* Effect.flip(paged((records) => records)))).toContain(
        "the server says first that there are 100, and then 50. If the server counts records that it does not send: total: false"
      )
    })
  )

  it.effect("states a total on the first page only is read to its end", () =>
    Effect.gen(function* () {
      for (const later of [{}, { count: null }]) {
        const { ids } = yield* asked({ items: "items", offset: "skip", total: "count" }, (url) => ({
          json: {
            items: byOffset(url, all).slice(0, 100),
            ...(url.searchParams.has("skip") ? later : { count: 250 })
          }
        }))
        expect(ids).toHaveLength(250)
      }
    })
  )

  it.effect("repeats the only page ends there", () =>
    Effect.gen(function* () {
      const { ids, requests } = yield* asked({ items: "items", page: "page", total: "count" }, () => ({
        json: { items: all.slice(0, 10), count: 10 }
      }))
      expect([ids.length, requests]).toEqual([10, 2])
    })
  )

  it.effect("repeats a token ends at a shorter page, and is an error at a full page", () =>
    Effect.gen(function* () {
      const tokens =
        (pages: ReadonlyArray<readonly [end: number, next: unknown]>): Respond =>
        (url) => {
          const place = numberOf(url, "cursor", 0)
          const [end, next] = pages[place] ?? [250, null]
          return { json: { items: all.slice(pages[place - 1]?.[0] ?? 0, end), next } }
        }
      const document = { items: "items", next: "next", cursor: "cursor" }
      for (const last of [null, "", 2]) {
        expect(
          (yield* asked(
            document,
            tokens([
              [100, 1],
              [200, 2],
              [250, last]
            ])
          )).ids
        ).toEqual(ids)
      }
      for (const next of [1, 2]) {
        const error = yield* Effect.flip(
          asked(
            document,
            tokens([
              [50, 1],
              [100, 2],
              [150, next]
            ])
          )
        )
        expect(String(error)).toContain("page 3: the pages form a circle: the next page is an earlier page")
      }
    })
  )

  it.effect("returns null instead of records ends there", () =>
    Effect.gen(function* () {
      const json = (url: URL) => ({ items: numberOf(url, "page", 1) === 1 ? [{ id: 1 }] : null })
      expect((yield* asked({ items: "items", page: "page" }, (url) => ({ json: json(url) }))).ids).toEqual([
        1
      ])
      expect(
        (yield* asked({ items: "data.items", page: "page" }, () => ({ json: { data: null } }))).ids
      ).toEqual([])
      expect((yield* asked({ page: "page" }, () => ({ json: null }))).ids).toEqual([])
    })
  )

  it.effect("refuses the page after the last page ends there", () =>
    Effect.gen(function* () {
      const pages =
        (refusal: { readonly status: number; readonly body: string }): Respond =>
        (url) => {
          const page = numberOf(url, "page", 1)
          return page > 3 ? refusal : { json: all.slice((page - 1) * 100, page * 100) }
        }
      const wordPress = { status: 400, body: '{"code":"rest_post_invalid_page_number"}' }
      expect((yield* asked({ page: "page" }, pages(wordPress))).ids).toEqual(ids)
      expect((yield* asked({ page: "page" }, pages({ status: 404, body: "" }))).ids).toEqual(ids)
      const broken: Respond = (url) =>
        numberOf(url, "page", 1) === 1 ? { json: all } : { status: 400, body: "no such parameter" }
      expect(String(yield* Effect.flip(asked({ page: "page" }, broken)))).toContain("400")
    })
  )
})
