import { createServer } from "node:http"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as HttpClientNode from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import type { JsonDocument } from "../../../../src/layers/sources/json/JsonSourceOptions.ts"
import { jsonSource } from "../../../../src/layers/sources/json/jsonSource.ts"

const environment = Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer)

interface Answer {
  readonly json: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly status?: number
}

/** The saved list of a server on this machine, or the error. */
const saved = (
  document: Omit<JsonDocument, "url"> & { readonly path?: string },
  respond: (url: string, origin: string) => Answer
) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const { path = "/list", ...options } = document
    let origin = ""
    const server = createServer((request, response) => {
      const { headers, json, status = 200 } = respond(request.url ?? "", origin)
      response.writeHead(status, { "content-type": "application/json", ...headers })
      response.end(typeof json === "string" ? json : JSON.stringify(json))
    })
    yield* Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
    )
    const address = server.address()
    origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
    const documents = { list: { url: `${origin}${path}`, ...options } }
    const { fetch } = yield* jsonSource({ id: "museum", documents }).make
    const directory = yield* fileSystem.makeTempDirectoryScoped()
    const target = { directory, previous: Option.none(), progress: () => Effect.void }
    return yield* fetch(target).pipe(
      Effect.zipRight(fileSystem.readFileString(`${directory}/list.json`)),
      Effect.map((text): unknown => JSON.parse(text)),
      Effect.catchTag("vitrine/SourceError", ({ message }) => Effect.succeed(message))
    )
  }).pipe(Effect.provide(environment))

const one = [{ id: 1 }]
const both = [{ id: 1 }, { id: 2 }]
const pageOf = (url: string) => new URL(url, "http://museum.example").searchParams.get("page")

describe("the next page of a Link header", () => {
  it.scopedLive.each([
    '</a.css>; rel=preload; as=style; nopush, <NEXT>; rel="next"',
    "</a.woff2>; rel=preload; crossorigin, <NEXT>; REL=Next",
    '</a>; rel="preload";; as="style", <NEXT>;;rel="next last";',
    '</a,b;c>; title="a, <b>; rel=next; \\" c"; rel=prev, <NEXT> ; title=x ; rel = "last next"',
    "</list?page=9>; rel=first; rel=next, <NEXT>; rel=next",
    "<NEXT>; rel='next'"
  ])("is found, whatever else the header contains: %s", (link) =>
    Effect.gen(function* () {
      const list = yield* saved({ next: "link" }, (url, origin) =>
        pageOf(url) === "2"
          ? { json: [{ id: 2 }] }
          : { json: one, headers: { link: link.replace("NEXT", `${origin}/list?page=2`) } }
      )
      expect(list).toEqual(both)
    })
  )

  it.scopedLive("may contain unescaped letters beyond ASCII", () =>
    Effect.gen(function* () {
      const list = yield* saved({ next: "link" }, (url) =>
        url === "/m%C3%BCnzen?page=2"
          ? { json: [{ id: 2 }] }
          : { json: one, headers: { link: Buffer.from('</münzen?page=2>; rel="next"').toString("latin1") } }
      )
      expect(list).toEqual(both)
    })
  )

  it.scopedLive("is on the same host, with any number of slashes before its path", () =>
    Effect.gen(function* () {
      const list = yield* saved({ next: "link" }, (url, origin) =>
        url.startsWith("//museum.example/")
          ? { json: [{ id: 2 }] }
          : { json: one, headers: { link: `<${origin}//museum.example/list>; rel=next` } }
      )
      expect(list).toEqual(both)
      const other = yield* saved({ next: "link" }, () => ({
        json: one,
        headers: { link: "<//museum.example/list>; rel=next" }
      }))
      expect(other).toContain("the next page is on another host, museum.example")
    })
  )
})

describe("a list", () => {
  it.scopedLive.each([
    { what: "404", answer: { json: {}, status: 404 } },
    { what: "204", answer: { json: "", status: 204 } }
  ])("ends if $what comes after its last page", ({ answer }) =>
    Effect.gen(function* () {
      expect(
        yield* saved({ page: "page" }, (url) =>
          pageOf(url) === null || pageOf(url) === "1"
            ? { json: both }
            : pageOf(url) === "2"
              ? { json: [{ id: 3 }] }
              : answer
        )
      ).toEqual([...both, { id: 3 }])
    })
  )

  it.scopedLive("is an error if a page after full pages is not found", () =>
    Effect.gen(function* () {
      const respond = (url: string) =>
        pageOf(url) === null || pageOf(url) === "1" ? { json: both } : { json: {}, status: 404 }
      expect(yield* saved({ page: "page" }, respond)).toContain("HTTP 404")
    })
  )

  it.scopedLive.each([
    { headers: { "x-wp-totalpages": "3" }, said: "after 1 page, but the server says that there are 3" },
    {
      headers: { "x-items": "3" },
      total: "X-Items",
      said: "after 2 records, but the server says that there are 3"
    }
  ])("is an error if $headers show that there are more records", ({ headers, said, total }) =>
    Effect.gen(function* () {
      const respond = (url: string) => ({ json: pageOf(url) === "2" ? [] : both, headers })
      const options = total === undefined ? {} : { total }
      expect(yield* saved({ page: "page", ...options }, respond)).toContain(said)
      expect(yield* saved({ page: "page", total: false }, respond)).toEqual(both)
    })
  )

  it.scopedLive.each([204, 422])("of one page is complete if the next page is HTTP %d", (status) =>
    Effect.gen(function* () {
      const document = { path: "/list?size=2", page: "page", size: "size" }
      const respond = (url: string) =>
        pageOf(url) === "2" ? { json: "", status } : { json: both, headers: { "x-total-count": "2" } }
      expect(yield* saved(document, respond)).toEqual(both)
    })
  )

  it.scopedLive("is empty if the response has no content", () =>
    Effect.gen(function* () {
      for (const as of ["json", "csv"] as const) {
        expect(yield* saved({ as, page: "page" }, () => ({ json: "", status: 204 }))).toEqual([])
      }
      expect(yield* saved({ items: "data" }, () => ({ json: "", status: 204 }))).toEqual([])
      const counted = { items: "data", page: "page", total: "meta.total" }
      expect(yield* saved(counted, () => ({ json: "", status: 204 }))).toEqual([])
      expect(yield* saved({}, () => ({ json: "", status: 204 }))).toContain("the answer is empty")
    })
  )

  it.scopedLive.each([
    { document: { items: "data.events" }, json: { errors: [{ message: "no such field" }], data: null } },
    {
      document: { items: "data", page: "page" },
      json: { error: { message: "no such field" }, data: null }
    }
  ])("is an error if the response contains an error instead: $json", ({ document, json }) =>
    Effect.gen(function* () {
      expect(yield* saved(document, () => ({ json }))).toMatch(
        /is null, and the server reports an error: .*"no such field"/
      )
      expect(yield* saved(document, () => ({ json: { data: null, errors: [], error: false } }))).toEqual([])
    })
  )

  it.scopedLive.each([
    { error: "Unauthenticated." },
    { success: false, status: 401, errors: [{ message: "Unauthenticated." }], data: null }
  ])("is an error if a whole response is nothing else: %j", (json) =>
    Effect.gen(function* () {
      expect(yield* saved({}, () => ({ json }))).toMatch(/: the server reports an error: .*Unauthenticated/)
      const texts = { ...json, title: "Museum" }
      expect(yield* saved({}, () => ({ json: texts }))).toEqual(texts)
      for (const content of [
        { status: "ok", error: null },
        { status: "ok", errors: 0, data: null },
        { error: "Fehler", message: "Bitte warten", success: "Danke" }
      ]) {
        expect(yield* saved({}, () => ({ json: content }))).toEqual(content)
      }
    })
  )

  it.scopedLive.each([
    ["an answer that is cut", '[{"id":1},{"id', "this is no JSON (application/json): it ends too early"],
    ["a mistake", '[{"id":1},\n{"id":NaN}]', "this is no JSON (application/json), line 2, column 7"]
  ])("is an error for %s, with its place", ([, json, message]) =>
    Effect.gen(function* () {
      expect(yield* saved({}, () => ({ json }))).toContain(message)
    })
  )

  it.scopedLive.each([
    "<!-- portal -->\n<html>",
    "<head><title>Log in</title></head>",
    "<?xml version='1.0'?><Error/>"
  ])("of CSV is an error if a web page comes instead: %s", (json) =>
    Effect.gen(function* () {
      expect(yield* saved({ as: "csv" }, () => ({ json }))).toContain(
        "this is no CSV: it looks like a web page"
      )
    })
  )
})
