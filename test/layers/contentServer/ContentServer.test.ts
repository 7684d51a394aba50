import { rename, utimes } from "node:fs/promises"
import { gunzipSync } from "node:zlib"
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import * as ContentServerLayer from "../../../src/layers/contentServer/ContentServer.ts"
import { ContentServer } from "../../../src/services/ContentServer.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import type { Case } from "../../../src/testing/runCase.ts"
import * as server from "../../support/contentServer.ts"
import * as lifetime from "../../support/lifetime.ts"
import { pluginsOf } from "../../support/plugins.ts"
import { sha256 } from "../../support/sha256.ts"
import { memoryServices } from "../../support/transport.ts"
import { eventually } from "../../support/waiting.ts"

const { get, request, versionId } = server
const version = `/versions/${versionId}`

const files = { "Objects.json": "[]", "attachments/att1/Bell 1.svg": "<svg/>", "a.js": "alert(1)" }

/** A server over a folder with one version. */
const serving = <A, E, R>(
  test: (folder: string) => Effect.Effect<A, E, R>,
  options: { readonly site?: string; readonly allowedHosts?: ReadonlyArray<string> } = {}
) =>
  Effect.gen(function* () {
    const folder = yield* server.makeFolder
    const downloadPath = `${folder}/downloads`
    yield* server.addVersion(downloadPath, files)
    const { site, ...others } = options
    yield* server.writeFile(`${folder}/page/index.html`, "<h1>Exhibit</h1>")
    yield* server.writeFile(`${folder}/page/more/index.html`, "<h1>More</h1>")
    yield* server.writeFile(`${folder}/page/.secret`, "TOKEN=1")
    return yield* test(folder).pipe(
      Effect.provide(
        server.layer({
          downloadPath,
          ...others,
          ...(site === undefined ? {} : { site: `${folder}/${site}` })
        })
      )
    )
  }).pipe(Effect.provide(server.environment))

/** A test that gets the folder of a server. */
const served = (
  title: string,
  test: Case<string, ContentServer | Layer.Layer.Success<typeof server.environment>>,
  options?: Parameters<typeof serving>[1]
) => it.scoped(title, () => serving((folder) => Effect.gen(() => test(folder)), options))

describe("the manifest", () => {
  served("is revalidated at every use, with 304 while it has not changed", function* (folder) {
    const first = yield* get("/manifest.json")
    expect(first).toMatchObject({
      status: 200,
      headers: {
        "cache-control": "no-cache",
        "content-type": "application/json",
        "access-control-allow-origin": "*",
        "x-content-type-options": "nosniff"
      }
    })
    expect(JSON.parse(first.body.toString())).toMatchObject({ versionId })
    const etag = first.headers.etag ?? ""
    expect(etag).toBe(`"${sha256(first.body)}"`)
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = yield* get("/manifest.json", { "If-None-Match": tags })
      expect(again).toMatchObject({ status: 304, headers: { etag, "cache-control": "no-cache" } })
      expect(again.body).toHaveLength(0)
    }

    yield* server.addVersion(`${folder}/downloads`, files, "20261121T093001Z")
    const changed = yield* get("/manifest.json", {
      "If-None-Match": etag,
      "If-Modified-Since": new Date(Date.now() + 60_000).toUTCString()
    })
    expect(changed.status).toBe(200)
    expect(JSON.parse(changed.body.toString())).toMatchObject({ versionId: "20261121T093001Z" })
  })

  served(
    "names the build of the page, as the page itself does",
    function* (folder) {
      const buildOf = (target: string, headers = {}) =>
        Effect.map(get(target, headers), ({ headers }) => headers["vitrine-build"])
      yield* eventually(Effect.map(buildOf("/manifest.json"), (build) => build !== undefined))
      const build = yield* buildOf("/manifest.json")
      expect(build).toMatch(/^[0-9a-f]{16}$/)
      const { headers } = yield* get("/manifest.json")
      expect(headers["access-control-expose-headers"]).toContain("Vitrine-Build")
      const unchanged = yield* get("/manifest.json", { "If-None-Match": headers.etag ?? "" })
      expect(unchanged).toMatchObject({ status: 304, headers: { "vitrine-build": build } })

      const timing = `build;desc="${build}"`
      for (const target of ["/", "/index.html?screen=left", "/more/"]) {
        expect(yield* get(target)).toMatchObject({ headers: { "server-timing": timing } })
      }
      const page = yield* get("/")
      expect(yield* get("/", { "If-None-Match": page.headers.etag ?? "" })).toMatchObject({
        status: 304,
        headers: { "server-timing": timing }
      })
      yield* server.writeFile(`${folder}/page/a.js`, "1")
      expect((yield* get("/a.js")).headers).not.toHaveProperty("server-timing")
      expect((yield* get(`${version}/exhibits/Objects.json`)).headers).not.toHaveProperty("server-timing")
    },
    { site: "page" }
  )

  served("names no build where no page is served", function* () {
    expect((yield* get("/manifest.json")).headers).not.toHaveProperty("vitrine-build")
  })

  it.scoped("is 404 until there is a manifest", () =>
    Effect.gen(function* () {
      const folder = yield* server.makeFolder
      yield* Effect.gen(function* () {
        for (const target of ["/manifest.json", `${version}/files.json`]) {
          const answer = yield* get(target)
          expect(answer.status).toBe(404)
          expect(answer.headers["cache-control"]).toBe("no-store")
          expect(JSON.parse(answer.body.toString()).error.message).toMatch(/^There is no manifest yet/)
        }
        yield* server.addVersion(`${folder}/downloads`, files)
        expect((yield* get("/manifest.json")).status).toBe(200)
        expect((yield* get(`${version}/exhibits/Objects.json`)).status).toBe(200)
      }).pipe(Effect.provide(server.layer({ downloadPath: `${folder}/downloads` })))
    }).pipe(Effect.provide(server.environment))
  )
})

describe("a file of a version", () => {
  served("can be cached for a year, has its digest as a strong ETag, and cannot run scripts", function* () {
    const answer = yield* get(`${version}/exhibits/attachments/att1/Bell%201.svg`)
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        "cache-control": "public, max-age=31536000, immutable",
        "content-type": "image/svg+xml",
        "content-length": "6",
        "accept-ranges": "bytes",
        "content-security-policy": "sandbox",
        "x-content-type-options": "nosniff",
        "access-control-allow-origin": "*",
        "last-modified": expect.stringContaining("GMT"),
        etag: `"${sha256("<svg/>")}"`
      }
    })
    expect(answer.headers["access-control-expose-headers"]).toContain("Content-Range")
    expect(answer.body.toString()).toBe("<svg/>")
    expect((yield* get(`${version}/exhibits/a.js`)).headers["content-type"]).toBe("text/plain; charset=utf-8")
  })

  served("has its headers in the response to HEAD, with any range", function* () {
    const target = `${version}/exhibits/Objects.json`
    const answer = yield* request({ method: "HEAD", target, headers: { Range: "bytes=0-0" } })
    expect(answer).toMatchObject({ status: 200, headers: { "content-length": "2" } })
    expect(answer.body).toHaveLength(0)
    const text = yield* request({ method: "HEAD", target: "/manifest.json" })
    expect(text.status).toBe(200)
    expect(Number(text.headers["content-length"])).toBeGreaterThan(100)
    expect(text.body).toHaveLength(0)
  })

  served("is listed in files.json, which is served too", function* () {
    const answer = yield* get(`${version}/files.json`)
    expect(JSON.parse(answer.body.toString())).toEqual(server.fileListOf(files))
    expect(answer.headers.etag).toBe(`"${sha256(answer.body)}"`)
  })

  served("is 404 where it does not match the list of files, or there is no list", function* (folder) {
    const fs = yield* FileSystem.FileSystem
    const message = (target: string) =>
      Effect.map(get(target), ({ body, status }) => [status, JSON.parse(body.toString()).error.message])
    const onDisk = `${folder}/downloads${version}`
    yield* fs.writeFileString(`${onDisk}/exhibits/Objects.json`, "[1]")
    expect(yield* message(`${version}/exhibits/Objects.json`)).toEqual([
      404,
      expect.stringMatching(/^exhibits\/Objects.json of version .* is damaged/)
    ])
    yield* fs.writeFileString(`${onDisk}/exhibits/other.json`, "[]")
    expect(yield* message(`${version}/exhibits/other.json`)).toEqual([
      404,
      `Not found: ${version}/exhibits/other.json`
    ])
    yield* fs.writeFileString(`${onDisk}/files.json`, "{")
    expect(yield* message(`${version}/exhibits/Objects.json`)).toEqual([
      404,
      expect.stringMatching(/^The files.json of version .* is damaged/)
    ])
    yield* fs.remove(`${onDisk}/files.json`)
    yield* fs.makeDirectory(`${onDisk}/files.json`)
    expect(yield* message(`${version}/files.json`)).toEqual([404, expect.stringMatching(/has no files.json/)])
    yield* fs.remove(`${onDisk}/files.json`, { recursive: true })
    expect(yield* message(`${version}/exhibits/Objects.json`)).toEqual([
      404,
      expect.stringMatching(/has no files.json: it was made by an older Vitrine/)
    ])
    expect(yield* message("/versions/20261121T093009Z/files.json")).toEqual([
      404,
      expect.stringMatching(/^There is no version 20261121T093009Z/)
    ])
  })

  served("is found by composed and decomposed letters", function* (folder) {
    yield* server.addVersion(`${folder}/downloads`, {
      "gr\u00fcn.txt": "composed",
      "blu\u0308.txt": "decomposed",
      constructor: "plain"
    })
    const body = (name: string) =>
      Effect.map(get(`${version}/exhibits/${encodeURIComponent(name)}`), ({ body, status }) =>
        status === 200 ? body.toString() : status
      )
    expect([yield* body("gr\u00fcn.txt"), yield* body("gru\u0308n.txt")]).toEqual(["composed", "composed"])
    expect([yield* body("bl\u00fc.txt"), yield* body("blu\u0308.txt")]).toEqual(["decomposed", "decomposed"])
    expect([yield* body("constructor"), yield* body("toString"), yield* body("__proto__")]).toEqual([
      "plain",
      404,
      404
    ])
  })

  served("is served after its list was added later", function* (folder) {
    const target = `${version}/exhibits/new.json`
    expect((yield* get(target)).status).toBe(404)
    yield* server.addVersion(`${folder}/downloads`, { ...files, "new.json": "{}" })
    expect((yield* get(target)).body.toString()).toBe("{}")
  })
})

describe("a page in a folder", () => {
  served(
    "is served at the root, after the manifest and the versions, with the address of the transport",
    function* (folder) {
      const { updateSlice } = pluginsOf(yield* ControllerState)
      yield* updateSlice("http-transport", () => ({ url: "http://127.0.0.1:8710" }))
      yield* server.writeFile(`${folder}/page/manifest.json`, "{}")
      yield* server.writeFile(`${folder}/page/versions/x`, "x")

      const index = yield* get("/?lang=de")
      expect(index).toMatchObject({
        status: 200,
        headers: { "cache-control": "no-cache", "content-type": "text/html; charset=utf-8" }
      })
      expect(index.headers).not.toHaveProperty("content-security-policy")
      expect(index.body.toString()).toBe("<h1>Exhibit</h1>")
      expect((yield* get("/", { "If-None-Match": index.headers.etag ?? "" })).status).toBe(304)
      expect((yield* get("/index.html", { Range: "bytes=0-3" })).body.toString()).toBe("<h1>")
      expect(JSON.parse((yield* get("/endpoint.json")).body.toString())).toEqual({
        transport: "http://127.0.0.1:8710"
      })
      expect(yield* get("/more")).toMatchObject({ status: 301, headers: { location: "/more/" } })
      expect((yield* get("/more/")).body.toString()).toBe("<h1>More</h1>")
      expect(JSON.parse((yield* get("/manifest.json")).body.toString())).toMatchObject({ versionId })
      expect((yield* get("/versions/x")).status).toBe(404)
    },
    { site: "page" }
  )

  served(
    "is sent anew after a build with the same size and the same fixed date",
    function* (folder) {
      const page = `${folder}/page/index.html`
      const date = new Date("1985-10-26T08:15:00Z")
      yield* Effect.promise(() => utimes(page, date, date))
      const { headers } = yield* get("/")
      expect(headers).not.toHaveProperty("last-modified")

      yield* server.writeFile(`${folder}/page/new.html`, "<h1>EXHIBIT</h1>")
      yield* Effect.promise(() => utimes(`${folder}/page/new.html`, date, date))
      yield* Effect.promise(() => rename(`${folder}/page/new.html`, page))
      for (const condition of [
        { "If-None-Match": headers.etag ?? "" },
        { "If-Modified-Since": new Date().toUTCString() },
        { "If-Range": headers.etag ?? "", Range: "bytes=0-3" }
      ]) {
        const answer = yield* get("/", condition)
        expect(answer).toMatchObject({ status: 200 })
        expect(answer.body.toString()).toBe("<h1>EXHIBIT</h1>")
      }
    },
    { site: "page" }
  )

  it.scoped.each([
    "/.secret",
    "/%2eenv",
    "/%2e%2e/downloads/manifest.json",
    "/../downloads/manifest.json",
    "/..%2fdownloads%2fmanifest.json",
    "/..%5cdownloads%5cmanifest.json",
    "//index.html",
    "/more//index.html",
    "/index.html/",
    "/index.html%00",
    "/index.html%20",
    "/index.html.",
    "/index.html::$DATA",
    "/CON",
    "/nul.html",
    "/link/manifest.json",
    "/link.html",
    "/missing/"
  ])("does not serve %s", (target) =>
    serving(
      (folder) =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          yield* fs.symlink(`${folder}/downloads`, `${folder}/page/link`)
          yield* fs.symlink(`${folder}/page/index.html`, `${folder}/page/link.html`)
          for (const name of ["index.html ", "index.html.", "CON", "nul.html"]) {
            yield* fs.writeFileString(`${folder}/page/${name}`, "")
          }
          expect((yield* get(target)).status).toBe(404)
        }),
      { site: "page" }
    )
  )

  it.scoped.each([
    ["0.0.0.0:8730", "http://0.0.0.0:8710"],
    ["127.0.0.1:8730", "http://127.0.0.1:8710"],
    ["[::1]:8730", "http://[::1]:8710"],
    ["hall-2.local", "http://hall-2.local:8710"],
    ["//", "http://192.0.2.9:8710"]
  ] as const)(
    "that was requested from %s gets %s as the address of a transport on all interfaces",
    ([host, transport]) =>
      serving(
        () =>
          Effect.gen(function* () {
            const { updateSlice } = pluginsOf(yield* ControllerState)
            yield* updateSlice("http-transport", () => ({ url: "http://192.0.2.9:8710", everywhere: true }))
            const { body } = yield* get("/endpoint.json", { Host: host })
            expect(JSON.parse(body.toString())).toEqual({ transport })
          }),
        { site: "page" }
      )
  )

  served("is not served without an option for it", function* () {
    expect((yield* get("/")).status).toBe(404)
    expect((yield* get("/endpoint.json")).status).toBe(404)
  })
})

describe("a request", () => {
  served("with another method gets 405", function* () {
    for (const method of ["POST", "PUT", "DELETE", "PROPFIND"]) {
      const answer = yield* request({ method, target: "/manifest.json" })
      expect(answer).toMatchObject({ status: 405, headers: { allow: "GET, HEAD, OPTIONS" } })
    }
  })

  served("is allowed from every page", function* () {
    const answer = yield* request({
      method: "OPTIONS",
      target: `${version}/files.json`,
      headers: { Origin: "http://example.com", "Access-Control-Request-Headers": "range" }
    })
    expect(answer).toMatchObject({
      status: 204,
      headers: {
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD, OPTIONS",
        "access-control-allow-headers": expect.stringContaining("Range")
      }
    })
  })

  served(
    "is refused for host names that are not allowed",
    function* () {
      const answer = yield* get("/manifest.json", { Host: "evil.example:8730" })
      expect(answer.status).toBe(403)
      expect(answer.body.toString()).toContain(
        'Host not allowed: \\"evil.example:8730\\" is not among the \\"allowedHosts\\" of the content server.'
      )
      expect((yield* get("/manifest.json", { Host: "LOCALHOST:1" })).status).toBe(200)
    },
    { allowedHosts: ["localhost"] }
  )

  served("that is malformed gets 400", function* () {
    const { received, send } = yield* server.connect
    send("GET /manifest.json HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n")
    expect(yield* received.whole).toMatch(/^HTTP\/1\.1 400 /)
    expect((yield* get("/%")).status).toBe(400)
    expect((yield* get("/%ff")).status).toBe(400)
    expect((yield* get("manifest.json")).status).toBe(400)
    const malformed = yield* server.connect
    malformed.send("nonsense\r\n\r\n")
    expect(yield* malformed.received.whole).toMatch(/^HTTP\/1\.1 400 .*Access-Control-Allow-Origin: \*/s)
  })
})

describe("the server", () => {
  it.scoped("opens no port in task mode, but checks its options", () =>
    Effect.gen(function* () {
      const { address } = yield* ContentServerLayer.make({ port: 0 })
      expect(address).toEqual(Option.none())
      const error = yield* Effect.flip(ContentServerLayer.make({ port: -1, content: "" }))
      expect(error.message).toMatch(/the options of the content server[\s\S]*port[\s\S]*content/)
    }).pipe(Effect.provide([server.environment, memoryServices("task")]))
  )

  served(
    "has the URL of its page in the state",
    function* () {
      const { plugins } = yield* Effect.flatMap(ControllerState, ({ state }) => state)
      const page = `http://127.0.0.1:${yield* server.port}/`
      expect(plugins["content-server"]).toMatchObject({ page })
    },
    { site: "page" }
  )

  served("has its URL and its counters in the state and the status", function* () {
    const { state, status } = yield* ControllerState
    const url = `http://127.0.0.1:${yield* server.port}`
    const slice = Effect.map(state, ({ plugins }) => plugins["content-server"])
    expect(yield* slice).toEqual({
      kind: "content-server",
      url,
      maxConnections: 1024,
      connections: 0,
      openResponses: 0,
      requests: 0,
      bytes: 0
    })
    yield* get(`${version}/exhibits/Objects.json`)
    expect(yield* slice).toMatchObject({ requests: 1 })
    expect(yield* slice).not.toMatchObject({ page: expect.anything() })
    const { sections } = yield* status
    expect(sections).toMatchObject([
      {
        name: "content-server",
        title: "Content server",
        rows: [
          { label: "Address", value: url },
          { label: "Connections", value: expect.stringMatching(/^\d of 1024$/) },
          { label: "Responses", value: expect.stringMatching(/^1, \d+ bytes; 0 open$/) }
        ]
      }
    ])
    const { statistics } = yield* ContentServer
    expect(yield* statistics).toMatchObject({ openResponses: 0, requests: 1 })
  })

  served("fails with advice where its port is in use", function* () {
    const port = yield* server.port
    const error = yield* Effect.flip(ContentServerLayer.make({ port }))
    expect(error).toMatchObject({ _tag: "vitrine/BindError", code: "EADDRINUSE", port })
  })

  served("leaves nothing behind where its port is in use", function* () {
    const port = yield* server.port
    const before = yield* lifetime.whatIsThere
    yield* Effect.flip(ContentServerLayer.make({ port, reports: { token: "0123456789abcdef" } }))
    yield* before.isAllAgain()
  })
})

describe("the list of a version's files", () => {
  const list = `${version}/files.json`

  served("is compressed for clients that accept gzip, with an ETag of its own", function* () {
    const plain = yield* get(list)
    const gzip = { "Accept-Encoding": "br, gzip;q=0.8" }
    const compressed = yield* get(list, gzip)
    expect(gunzipSync(compressed.body)).toEqual(plain.body)
    expect(compressed).toMatchObject({
      status: 200,
      headers: {
        "content-encoding": "gzip",
        "content-length": String(compressed.body.length),
        "content-type": "application/json",
        "cache-control": "public, max-age=31536000, immutable",
        "content-security-policy": "sandbox",
        vary: "Accept-Encoding",
        etag: `"${sha256(plain.body)}-gzip"`
      }
    })
    expect(plain.headers).toMatchObject({ vary: "Accept-Encoding", etag: `"${sha256(plain.body)}"` })
    expect(plain.headers).not.toHaveProperty("content-encoding")

    const etag = compressed.headers.etag ?? ""
    expect(yield* get(list, { ...gzip, "If-None-Match": etag })).toMatchObject({
      status: 304,
      headers: { etag, vary: "Accept-Encoding" }
    })
    const other = yield* get(list, { ...gzip, "If-None-Match": plain.headers.etag ?? "" })
    expect(other.status).toBe(200)
    const part = yield* get(list, { ...gzip, Range: "bytes=1-4" })
    expect(part).toMatchObject({ status: 206, headers: { vary: "Accept-Encoding" } })
    expect(part.body).toEqual(plain.body.subarray(1, 5))
  })

  served("is not compressed for other clients, as all other files", function* () {
    for (const accepted of ["", "identity", "br", "gzip;q=0", "gzip;q=0.0", "xgzip"]) {
      const { headers } = yield* get(list, { "Accept-Encoding": accepted })
      expect(headers).not.toHaveProperty("content-encoding")
    }
    const { headers } = yield* get(`${version}/exhibits/Objects.json`, { "Accept-Encoding": "gzip" })
    expect(headers).not.toHaveProperty("content-encoding")
    expect(headers).not.toHaveProperty("vary")
  })

  served(
    "is complete whatever the query is, because older players ask for changes since a version",
    function* () {
      for (const headers of [{}, { "Accept-Encoding": "gzip" }]) {
        const whole = yield* get(list, headers)
        expect(yield* get(`${list}?since=20261121T092959Z`, headers)).toMatchObject({
          status: 200,
          body: whole.body,
          headers: { etag: whole.headers.etag, "content-type": "application/json" }
        })
      }
    }
  )
})

describe("a page in a folder with private files", () => {
  it.scoped.each<readonly [string, string]>([
    ["all.ts", "downloads"],
    [".env", ".env"],
    ["vitrine.config.ts", "vitrine.config.ts"]
  ])("is refused: %s", ([file, named]) =>
    Effect.gen(function* () {
      const folder = yield* server.makeFolder
      yield* server.writeFile(`${folder}/${file}`, "")
      const error = yield* Effect.flip(
        Layer.build(server.layer({ downloadPath: `${folder}/downloads`, site: folder }))
      )
      expect(String(error)).toContain(
        `site: ${folder}/${named} is in this folder, and everybody who reaches the port could read it. Keep the page in its own folder, such as "site".`
      )
    }).pipe(Effect.provide(server.environment))
  )
})

describe("a page that nobody can open", () => {
  it.scoped("is a problem after half a minute, until it can be opened", () =>
    Effect.gen(function* () {
      const folder = yield* server.makeFolder
      const index = `${folder}/page/index.html`
      yield* server.writeFile(index, "<h1>Exhibit</h1>")
      yield* server.addVersion(`${folder}/downloads`, {})
      yield* ContentServerLayer.make({ port: 0, downloadPath: `${folder}/downloads`, site: `${folder}/page` })
      const { state } = yield* ControllerState
      const found = Effect.map(state, ({ problems = [] }) =>
        problems.map(({ code, text }) => ({ code, text }))
      )
      const fs = yield* FileSystem.FileSystem
      yield* fs.remove(index)
      const text = expect.stringContaining("The folder of the page has no index.html: page")
      yield* eventually(
        Effect.gen(function* () {
          yield* TestClock.adjust("15 seconds")
          return (yield* found).length > 0
        })
      )
      expect(yield* found).toEqual([{ code: "content-server:page", text }])
      yield* server.writeFile(index, "<h1>Exhibit</h1>")
      yield* eventually(
        Effect.gen(function* () {
          yield* TestClock.adjust("15 seconds")
          return (yield* found).length === 0
        })
      )
    }).pipe(Effect.provide(server.environment))
  )
})
