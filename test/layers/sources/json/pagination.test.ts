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
import { ListNotWhole } from "../../../../src/layers/documents/wholeList.ts"
import { JsonSourceOptions } from "../../../../src/layers/sources/json/JsonSourceOptions.ts"
import { readDocument } from "../../../../src/layers/sources/json/readDocument.ts"

interface Item {
  readonly id: number
}

const decodeItems = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ id: Schema.Number })))

const decodeOptions = Schema.decodeUnknownSync(JsonSourceOptions)

/** What a server answers about its items now. */
type Respond = (url: URL, items: ReadonlyArray<Item>) => { readonly json: unknown; readonly link?: string }

interface Shape {
  readonly document: Readonly<Record<string, string>>
  readonly respond: Respond
  /** Whether a list of one page is not to be told from a mistake in the document. */
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
  /** Items that are added before the answers to further requests, each at a place. */
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

/** What was read of a server, how often it was asked, and what it has in the end. */
const read = (shape: Shape, { added, items, size }: Server) =>
  Effect.gen(function* () {
    const base = shape.document.url ?? "https://museum.example/items"
    const url = `${base}${base.includes("?") ? "&" : "?"}limit=${size}`
    const { documents } = decodeOptions({
      id: "museum",
      documents: { items: { ...shape.document, url } }
    })
    const now = [...items]
    let requests = 0
    const get = (address: string) =>
      Effect.sync(() => {
        for (const { place, request } of added) {
          if (request === requests)
            now.splice(Math.floor(place * (now.length + 1)), 0, { id: 1000 + now.length })
        }
        requests++
        const { json, link } = shape.respond(new URL(address), now)
        return {
          url: address,
          text: JSON.stringify(json),
          headers: link === undefined ? {} : { link },
          hide: (text: string) => text
        }
      })
    const document = documents.items
    if (document === undefined) return yield* Effect.dieMessage("no document")
    const { again = (save) => save, content } = readDocument({ get }, "items", document)
    if (content._tag !== "Records") return yield* Effect.dieMessage("no pages")
    const pages = Chunk.toReadonlyArray(yield* again(Stream.runCollect(content.pages)))
    const ids = decodeItems(pages.flat()).map(({ id }) => id)
    return { ids, requests }
  })

const few = { fastCheck: { numRuns: 30 } }

describe.each(Object.entries(shapes))("a list by %s", (_, shape) => {
  const servers = server.filter(({ items, size }) => shape.needsTwoPages !== true || items.length > size)

  it.effect.prop(
    "is read to its end, with nothing missing and nothing twice",
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
    "is whole or an error while records are added",
    [servers],
    ([given]) =>
      Effect.gen(function* () {
        const result = yield* Effect.either(read(shape, given))
        if (Either.isLeft(result)) {
          expect(result.left).toBeInstanceOf(ListNotWhole)
          return
        }
        const { ids } = result.right
        expect(new Set(ids).size).toBe(ids.length)
        expect(ids).toEqual(expect.arrayContaining(given.items.map(({ id }) => id)))
      }),
    few
  )
})

describe("a list whose first page leads to itself", () => {
  const items = [{ id: 1 }, { id: 2 }]
  const readItself = (document: Shape["document"], respond: Respond) =>
    read({ document, respond }, { items, size: 1, added: [] })

  it.effect("is an error, for its other pages would be missing", () =>
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

  it.effect("is an error where the page behind it is the same by another address, too", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        readItself({ next: "link" }, () => ({ json: items, link: '<?limit=1&p=1>; rel="next"' }))
      )
      expect(String(error)).toContain(
        'page 2: the next page is page 1 again. Is the "Link" header that of the page behind it?'
      )
    })
  )

  it.effect("ends where there is nothing in it", () =>
    Effect.gen(function* () {
      const { ids, requests } = yield* readItself({ items: "data", next: "links.self" }, (url) => ({
        json: { data: [], links: { self: url.href } }
      }))
      expect([ids, requests]).toEqual([[], 1])
    })
  )
})

describe("records with the same key", () => {
  const readPages = (pages: ReadonlyArray<ReadonlyArray<unknown>>, document: Shape["document"] = {}) =>
    read(
      {
        document: { page: "page", ...document },
        respond: (url) => ({ json: pages[numberOf(url, "page", 1) - 1] ?? [] })
      },
      { items: [], size: 10, added: [] }
    )

  it.effect("are an error where they differ on one page, for one of them would be missing", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        readPages([
          [
            { id: 1, locale: "de" },
            { id: 1, locale: "en" }
          ]
        ])
      )
      expect(String(error)).toContain(
        'page 1: two records are not the same, but both have the key 1. Set "key" to what identifies a record'
      )
    })
  )

  it.effect("are one where they are equal on one page", () =>
    Effect.gen(function* () {
      expect((yield* readPages([[{ id: 1 }, { id: 1 }, { id: 2 }]])).ids).toEqual([1, 2])
    })
  )

  it.effect("are an error on two pages, after the list was read twice", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(readPages([[{ id: 1 }], [{ id: 1 }, { id: 2 }]]))
      expect(String(error)).toContain(
        'Document "items": the record 1 is on page 1 and on page 2: others may be missing'
      )
    })
  )
})
