/**
 * A page that is part of the content: served from a source of the active version.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as SiteBuild from "../../../src/layers/contentServer/SiteBuild.ts"
import type { ContentServer } from "../../../src/services/ContentServer.ts"
import type { Case } from "../../../src/testing/runCase.ts"
import * as server from "../../support/contentServer.ts"
import { withLog } from "../../support/logged.ts"
import { sha256 } from "../../support/sha256.ts"
import { eventually } from "../../support/waiting.ts"

const { get } = server
const [first, second, third] = ["20261121T093000Z", "20261121T093001Z", "20261121T093002Z"] as const

const build = (name: string) => ({
  "index.html": `<h1>${name}</h1>`,
  "more/index.html": "<h1>More</h1>",
  [`assets/main-${name}.js`]: `console.log("${name}")`,
  "data.json": "{}"
})

const content = (year: string, page: server.Files | undefined = build("one")): server.Sources => ({
  exhibits: { "Objects.json": `[${year}]`, "bell.jpg": "a bell" },
  ...(page === undefined ? {} : { page })
})

/** A server of the page over versions that the test adds. */
const serving = <A, E, R>(
  test: (
    add: (sources: server.Sources, id: string, active?: string) => ReturnType<typeof server.addSources>,
    downloads: string
  ) => Effect.Effect<A, E, R>,
  source = "page"
) =>
  Effect.gen(function* () {
    const downloadPath = `${yield* server.makeFolder}/downloads`
    return yield* test(
      (sources, id, active) => server.addSources(downloadPath, sources, id, active),
      downloadPath
    ).pipe(Effect.provide(server.layer({ downloadPath, site: { source } })))
  }).pipe(Effect.provide(server.environment))

/** A test of the page of a source called "page". */
const served = (
  title: string,
  test: Case<
    {
      readonly add: Parameters<Parameters<typeof serving>[0]>[0]
      readonly downloads: string
    },
    ContentServer | Layer.Layer.Success<typeof server.environment>
  >
) => it.scoped(title, () => serving((add, downloads) => Effect.gen(() => test({ add, downloads }))))

const textOf = (target: string) => Effect.map(get(target), ({ body }) => body.toString())
const statusOf = (target: string) => Effect.map(get(target), ({ status }) => status)
const messageOf = (target: string) =>
  Effect.map(get(target), ({ body, status }) => [status, JSON.parse(body.toString()).error.message])

describe("a page from a source", () => {
  served("has the headers of a page, and its digest as a strong ETag", function* ({ add }) {
    yield* add(content("1"), first)
    const page = yield* get("/")
    const etag = `"${sha256("<h1>one</h1>")}"`
    expect(page).toMatchObject({
      status: 200,
      headers: {
        etag,
        "cache-control": "no-cache",
        "content-type": "text/html; charset=utf-8",
        "x-content-type-options": "nosniff"
      }
    })
    expect(page.headers).not.toHaveProperty("content-security-policy")
    expect(yield* get("/assets/main-one.js")).toMatchObject({
      status: 200,
      headers: { "cache-control": "no-cache", "content-type": "application/javascript; charset=utf-8" }
    })
    expect((yield* get("/", { "If-None-Match": etag })).status).toBe(304)
    expect(yield* get("/more")).toMatchObject({ status: 301, headers: { location: "/more/" } })
    expect(yield* textOf("/more/")).toBe("<h1>More</h1>")
    expect(yield* textOf("/endpoint.json")).toBe("{}")
  })

  served(
    "changes with its version, and has a new build if its files have changed, not if a table has",
    function* ({ add }) {
      const seen = Effect.gen(function* () {
        const [manifest, page] = [yield* get("/manifest.json"), yield* get("/")]
        const build = manifest.headers["vitrine-build"]
        const version = JSON.parse(manifest.body.toString()).versionId
        expect(page.headers["server-timing"]).toBe(`build;desc="${build}", version;desc="${version}"`)
        return { build, page: page.body.toString() }
      })
      yield* add(content("1"), first)
      const before = yield* seen
      expect(before.build).toMatch(/^[0-9a-f]{16}$/)
      yield* add(content("2"), second)
      expect(yield* seen).toEqual(before)
      yield* add(content("2", build("two")), third)
      const after = yield* seen
      expect(after.page).toBe("<h1>two</h1>")
      expect(after.build).not.toBe(before.build)
    }
  )

  served("has the same build as the same folder", function* ({ add, downloads }) {
    yield* add(content("1"), first)
    const current = yield* SiteBuild.make(`${downloads}/versions/${first}/page`, "content")
    yield* eventually(Effect.map(current, Option.isSome))
    const { headers } = yield* get("/manifest.json")
    expect(Option.some(headers["vitrine-build"])).toEqual(yield* current)
  })

  served(
    "serves files of other builds as long as a version on disk has them, but not their HTML",
    function* ({ add, downloads }) {
      yield* add(content("1", { ...build("one"), "old.html": "<h1>Old</h1>" }), first)
      yield* add(content("1", build("two")), second)
      expect(yield* textOf("/assets/main-one.js")).toBe('console.log("one")')
      expect(yield* statusOf("/old.html")).toBe(404)
      const fs = yield* FileSystem.FileSystem
      yield* fs.remove(`${downloads}/versions/${first}`, { recursive: true })
      expect(yield* statusOf("/assets/main-one.js")).toBe(404)
    }
  )

  served("is the one of the previewed version, without a build", function* ({ add }) {
    yield* add(content("1"), first)
    yield* add(content("1", build("two")), second, first)
    expect(yield* textOf("/")).toBe("<h1>one</h1>")
    for (const query of ["?version=waiting", `?screen=left&version=${second}`]) {
      const page = yield* get(`/${query}`)
      expect(page.body.toString()).toBe("<h1>two</h1>")
      expect(page.headers).not.toHaveProperty("server-timing")
    }
    expect(yield* textOf("/assets/main-two.js")).toBe('console.log("two")')
    for (const query of [
      `?version=${third}`,
      `?version=${first}`,
      "?version=..%2F",
      "?version=",
      "?aversion=waiting"
    ]) {
      expect(yield* get(`/${query}`)).toMatchObject({ body: Buffer.from("<h1>one</h1>") })
    }
  })

  it.scoped("reports whether a version, the source or its build is missing", () => {
    const lines: Array<string> = []
    return serving(
      (add) =>
        Effect.gen(function* () {
          expect(yield* messageOf("/")).toEqual([404, "There is no manifest yet: no version was fetched."])
          yield* add(content("1"), first)
          const message = `The version ${first} has no source "pages" for the page. It has: exhibits, page.`
          expect(yield* messageOf("/")).toEqual([404, message])
          expect(yield* messageOf("/")).toEqual([404, message])
          expect((yield* get("/manifest.json")).headers).not.toHaveProperty("vitrine-build")
          yield* add({ ...content("1"), pages: { "a.js": "1" } }, second)
          expect(yield* messageOf("/")).toEqual([
            404,
            `The version ${second} has no page: there is no index.html in its source "pages". Is the page built?`
          ])
          expect(lines.filter((line) => line === `WARN ${message}`)).toHaveLength(1)
        }),
      "pages"
    ).pipe(withLog(lines))
  })

  served(
    "consists only of its listed files, whatever the path and the folder contain",
    function* ({ add, downloads }) {
      const fs = yield* FileSystem.FileSystem
      yield* add(content("1"), first)
      const page = `${downloads}/versions/${first}/page`
      yield* server.writeFile(`${page}/.env`, "TOKEN=1")
      yield* server.writeFile(`${page}/unlisted.js`, "1")
      yield* server.writeFile(`${downloads}/secret.html`, "TOKEN=1")
      yield* fs.remove(`${page}/data.json`)
      yield* fs.symlink(`${downloads}/secret.html`, `${page}/data.json`)
      for (const target of [
        "/.env",
        "/unlisted.js",
        "/data.json",
        "/../exhibits/Objects.json",
        "/..%2Fexhibits/Objects.json",
        "/%2e%2e/exhibits/Objects.json",
        "/..%5Cexhibits%5CObjects.json",
        "/more%2Findex.html",
        "//index.html",
        "/INDEX.HTML",
        "/index.html/",
        "/assets",
        "/assets/",
        "/index.html%00.js",
        "/files.json",
        "/__proto__",
        "/constructor"
      ]) {
        expect([target, yield* statusOf(target)]).toEqual([target, 404])
      }
    }
  )
})

describe("a file by its digest", () => {
  const address = (content: string, path = "exhibits/bell.jpg") =>
    `/versions/files/${sha256(content)}/${path}`

  served(
    "has one URL in all versions that contain it, and can be cached for a year",
    function* ({ add, downloads }) {
      const fs = yield* FileSystem.FileSystem
      yield* add(content("1"), first)
      const bell = yield* get(address("a bell"))
      expect(bell).toMatchObject({
        status: 200,
        body: Buffer.from("a bell"),
        headers: {
          etag: `"${sha256("a bell")}"`,
          "cache-control": "public, max-age=31536000, immutable",
          "content-security-policy": "sandbox",
          "content-type": "image/jpeg"
        }
      })
      yield* add(content("2"), second)
      yield* fs.remove(`${downloads}/versions/${first}`, { recursive: true })
      expect((yield* get(address("a bell"))).status).toBe(200)
      expect((yield* get(address("[2]", "exhibits/Objects.json"))).status).toBe(200)
      expect((yield* get(address("a bell"), { Range: "bytes=0-0" })).status).toBe(206)
      expect((yield* get(`/versions/${second}/files.json`)).headers["vitrine-files"]).toBe("versions/files")
      // What a page has is inert there, as in a version.
      expect((yield* get(address("<h1>one</h1>", "page/index.html"))).headers).toMatchObject({
        "content-security-policy": "sandbox"
      })
    }
  )

  served("is found in an inactive version, and not with another digest or path", function* ({ add }) {
    yield* add(content("1"), first)
    yield* add({ exhibits: { "bell.jpg": "another bell" } }, second)
    expect(yield* textOf(address("a bell"))).toBe("a bell")
    expect(yield* textOf(address("another bell"))).toBe("another bell")
    for (const target of [
      address("no bell"),
      address("a bell", "exhibits/other.jpg"),
      address("a bell", "exhibits%2Fbell.jpg"),
      address("a bell", "../exhibits/bell.jpg"),
      `/versions/files/${sha256("a bell").toUpperCase()}/exhibits/bell.jpg`,
      "/versions/files/",
      "/versions/files"
    ]) {
      expect([target, yield* statusOf(target)]).toEqual([target, 404])
    }
  })
})
