/**
 * A source with media, over real sockets and files.
 */
import { statSync } from "node:fs"
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import { SourceFolder } from "../../../../src/services/ContentSource.ts"
import { withAdvancingClock } from "../../../../src/testing/advancingClock.ts"
import { withLocked } from "../../../support/lockedFiles.ts"
import { withLog } from "../../../support/logged.ts"
import {
  type MediaSettings,
  makeDocuments,
  makeFetch,
  mediaServices,
  type WebFile
} from "../../../support/media.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { sha256 } from "../../../support/sha256.ts"
import { textsOf } from "../../../support/warnings.ts"

const run = Effect.provide(mediaServices)

const yesterday = new Date(Date.now() - 86_400_000).toUTCString()

/** A web server of files that answers conditional requests, and a source with documents from it. */
const setUp = Effect.fnUntraced(function* (settings: Partial<MediaSettings> = { find: ["**.image.url"] }) {
  const files = new Map<string, WebFile>()
  const server = yield* ScriptedServer.make((response, { headers, url }) => {
    const file = files.get(url.split("?")[0] ?? "")
    if (file === undefined) {
      response.writeHead(404, { "content-type": "text/html" }).end("<html>Not here</html>")
    } else if (file.headers?.etag !== undefined && headers["if-none-match"] === file.headers.etag) {
      response.writeHead(304, { etag: file.headers.etag }).end()
    } else {
      response
        .writeHead(200, { "content-length": Buffer.byteLength(file.body), ...file.headers })
        .end(file.body)
    }
  })
  const inner = makeDocuments(`${server.url}/api/objects`)
  const restart = makeFetch(settings, inner.source)
  const fetch = yield* restart
  const requests = Effect.map(Queue.takeAll(server.received), (received) => [...received])
  return {
    server,
    files,
    ...inner,
    fetch,
    restart,
    requests,
    paths: Effect.map(requests, (received) => received.map(({ url }) => url).sort())
  }
})

const jpeg = (body: string, headers: Readonly<Record<string, string>> = {}): WebFile => ({
  body,
  headers: { "content-type": "image/jpeg", ...headers }
})

const localPaths = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value)
    ? value.flatMap(localPaths)
    : Predicate.isReadonlyRecord(value)
      ? [...("localPath" in value ? [value.localPath] : []), ...Object.values(value).flatMap(localPaths)]
      : []

/** The paths of saved files, without the digests in their names. */
const withoutDigests = (value: unknown) =>
  localPaths(value).map((path) => String(path).replace(/-[0-9a-f]{16}(?=\.)/, ""))

describe("a source with media", () => {
  it.scoped("saves each file once, with its path beside each link and its digest", () =>
    Effect.gen(function* () {
      const { fetch, files, paths, server, set } = yield* setUp()
      files.set("/uploads/a%20b.jpg", jpeg("aaa"))
      files.set("/asset/7", jpeg("bbbb", { "content-disposition": 'inline; filename="Glocke.png"' }))
      set({
        "objects.json": [
          { id: "1", image: { url: "/uploads/a b.jpg" } },
          { id: "2", image: { url: `${server.url}/uploads/a%20b.jpg?X-Amz-Signature=2`, alt: "A" } }
        ],
        "home.json": { hero: { image: { url: "/asset/7" } } },
        "film.mp4": "film"
      })
      const { fetched, files: saved, media, progress, read } = yield* fetch()
      expect(yield* paths).toEqual(["/asset/7", "/uploads/a%20b.jpg"])
      expect(media).toEqual([
        expect.stringMatching(/^media\/Glocke-[0-9a-f]{16}\.jpg$/),
        expect.stringMatching(/^media\/a-b-[0-9a-f]{16}\.jpg$/)
      ])
      const [bell, ab] = media
      expect(read("home.json")).toEqual({ hero: { image: { localPath: bell, url: "/asset/7" } } })
      expect(read("objects.json")).toMatchObject([
        { image: { localPath: ab } },
        { image: { alt: "A", localPath: ab } }
      ])
      expect(fetched.attachments).toEqual({ total: 2, bytes: 7, reused: 0 })
      expect(fetched.digests).toMatchObject({ [bell ?? ""]: sha256("bbbb"), [ab ?? ""]: sha256("aaa") })
      for (const [name, digest] of Object.entries(fetched.digests ?? {})) {
        expect([name, saved[name]?.sha256]).toEqual([name, digest])
      }
      expect(progress.at(-1)?.attachments).toEqual({ done: 2, total: 2, bytes: 7 })
    }).pipe(run)
  )

  it.scoped.each(["image/jpeg", "text/vtt", "application/octet-stream"])(
    "refuses an empty file of type %s",
    (type) =>
      Effect.gen(function* () {
        const { fetch, files, set } = yield* setUp()
        files.set("/a", { body: "", headers: { "content-type": type } })
        set({ "objects.json": [{ id: "1", image: { url: "/a" } }] })
        const failure = yield* fetch().pipe(
          Effect.as("accepted"),
          Effect.catchAll(({ isTransient, message }) => Effect.succeed({ isTransient, message }))
        )
        expect(failure).toEqual({
          isTransient: false,
          message: expect.stringMatching(/: it is empty/)
        })
      }).pipe(run)
  )

  it.scoped("has the same fingerprint and files for the same content", () =>
    Effect.gen(function* () {
      const { fetch, files, set } = yield* setUp()
      files.set("/a.jpg", jpeg("aaa", { etag: '"1"' }))
      set({ "objects.json": [{ id: "1", image: { url: "/a.jpg" } }] })
      const first = yield* fetch()
      const again = yield* fetch()
      expect(again.fetched.fingerprint).toBe(first.fetched.fingerprint)
      expect(again.files).toEqual(first.files)
      files.set("/a.jpg", jpeg("aab"))
      expect((yield* fetch()).fetched.fingerprint).not.toBe(first.fetched.fingerprint)
    }).pipe(run)
  )

  it.scoped("sends one request for each file of the previous version, and links unchanged files", () =>
    Effect.gen(function* () {
      const { fetch, files, requests, server, set } = yield* setUp()
      files.set("/a.jpg", jpeg("aaa", { etag: '"1"' }))
      files.set("/b.jpg", jpeg("bbb", { etag: '"2"' }))
      const objects = [{ id: "1", image: { url: "/a.jpg" } }]
      set({ "objects.json": objects })
      const first = yield* fetch()
      yield* requests
      const same = yield* fetch(first)
      expect(same.fetched).toMatchObject({
        fingerprint: first.fetched.fingerprint,
        attachments: { total: 1, bytes: 3, reused: 1 }
      })
      const [asked, ...more] = yield* requests
      expect([asked?.headers["if-none-match"], more]).toEqual(['"1"', []])

      set({ "objects.json": [...objects, { id: "2", image: { url: `${server.url}/b.jpg` } }] })
      const second = yield* fetch(first)
      expect(second.fetched.attachments).toEqual({ total: 2, bytes: 6, reused: 1 })
      const [a = ""] = first.media
      expect(statSync(join(second.directory, a)).ino).toBe(statSync(join(first.directory, a)).ino)
      expect(statSync(join(second.directory, "objects.json")).ino).not.toBe(
        statSync(join(first.directory, "objects.json")).ino
      )
      expect(localPaths(second.read("objects.json"))).toHaveLength(2)
    }).pipe(run)
  )

  it.scoped("downloads only the files that have changed", () =>
    Effect.gen(function* () {
      const { fetch, files, set } = yield* setUp()
      files.set("/a.jpg", jpeg("aaa", { etag: '"1"' }))
      files.set("/b.jpg", jpeg("bbb", { etag: '"2"' }))
      set({
        "objects.json": [
          { id: "1", image: { url: "/a.jpg" } },
          { id: "2", image: { url: "/b.jpg" } }
        ],
        "plain.json": { title: "Bell" },
        "films/film.mp4": "film"
      })
      const first = yield* fetch()
      files.set("/a.jpg", jpeg("xyz!", { etag: '"3"' }))
      const second = yield* fetch(first)
      expect(second.fetched.fingerprint).not.toBe(first.fetched.fingerprint)
      expect(Object.keys(second.files).sort()).toEqual(Object.keys(first.files).sort())
      expect(second.media).toEqual(first.media)
      expect(second.read("objects.json")).toEqual(first.read("objects.json"))
      expect(second.text("films/film.mp4")).toBe("film")
      for (const [name, digest] of Object.entries(second.fetched.digests ?? {})) {
        expect([name, second.files[name]?.sha256]).toEqual([name, digest])
      }
      expect(yield* fetch(second)).toMatchObject({
        fetched: { fingerprint: second.fetched.fingerprint, attachments: { reused: 2 } }
      })
    }).pipe(run)
  )

  it.scoped("remembers a new ETag of an unchanged file, also over a restart", () =>
    Effect.gen(function* () {
      const { fetch, files, requests, restart, set } = yield* setUp()
      files.set("/a.jpg", jpeg("aaa", { etag: '"1"' }))
      set({ "objects.json": [{ id: "1", image: { url: "/a.jpg" } }] })
      const first = yield* fetch()
      files.set("/a.jpg", jpeg("aaa", { etag: '"2"' }))
      const second = yield* fetch(first)
      expect(second.fetched.fingerprint).toBe(first.fetched.fingerprint)
      yield* requests
      for (const again of [fetch, yield* restart]) {
        expect((yield* again(first)).fetched.attachments?.reused).toBe(1)
        expect((yield* requests).map(({ headers }) => headers["if-none-match"])).toEqual(['"2"'])
      }
    }).pipe(
      Effect.provideServiceEffect(
        SourceFolder,
        Effect.asSome(Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()))
      ),
      run
    )
  )

  it.scoped("sends the ETag that came with the downloaded file, not a later one", () =>
    Effect.gen(function* () {
      const { fetch, files, requests, server, set } = yield* setUp()
      files.set("/a.jpg", jpeg("aaa", { etag: '"1"' }))
      set({ "objects.json": [{ id: "1", image: { url: "/a.jpg" } }] })
      const first = yield* fetch()
      server.next((response) => response.writeHead(304, { etag: '"2"' }).end())
      yield* fetch(first)
      files.set("/a.jpg", jpeg("bbb", { etag: '"2"' }))
      const second = yield* fetch(first)
      expect(second.text(second.media[0] ?? "")).toBe("bbb")
      expect((yield* requests).map(({ headers }) => headers["if-none-match"])).toEqual([
        undefined,
        '"1"',
        '"1"'
      ])
    }).pipe(run)
  )

  it.scoped("stops a download if the response headers show that the file has not changed", () =>
    Effect.gen(function* () {
      const { fetch, files, set } = yield* setUp()
      files.set("/a.jpg", jpeg("aaa", { "last-modified": yesterday }))
      set({ "objects.json": [{ id: "1", image: { url: "/a.jpg" } }] })
      const first = yield* fetch()
      expect((yield* fetch(first)).fetched.attachments?.reused).toBe(1)
    }).pipe(run)
  )

  it.scoped("requests nothing if the document shows that a file has not changed", () =>
    Effect.gen(function* () {
      const version = { now: "1" }
      const { fetch, files, paths, set } = yield* setUp({
        reader: (value) =>
          Predicate.isString(value.file)
            ? Option.some({ url: value.file, version: version.now })
            : Option.none()
      })
      files.set("/a.jpg", jpeg("aaa"))
      set({ "objects.json": [{ id: "1", file: "/a.jpg" }] })
      const first = yield* fetch()
      yield* paths
      expect((yield* fetch(first)).fetched.fingerprint).toBe(first.fetched.fingerprint)
      expect(yield* paths).toEqual([])
      version.now = "2"
      yield* fetch(first)
      expect(yield* paths).toEqual(["/a.jpg"])
    }).pipe(run)
  )

  it.scoped("fails if a file is missing, with the place and the reason and without the link", () =>
    Effect.gen(function* () {
      const { fetch, files, server, set } = yield* setUp()
      files.set("/a.jpg", jpeg("aaa"))
      set({
        "objects.json": [
          { id: "o1", image: { url: "/a.jpg" } },
          { id: "o2", image: { url: "/b.jpg?sig=secret" } }
        ]
      })
      const { isTransient, message } = yield* Effect.flip(fetch())
      expect(message).toBe(
        `Source "museum": Document "objects.json", record o2, field "image.url": the file "/b.jpg" cannot be saved: ${server.url} responds with HTTP 404. "media.optional" says which files may be missing`
      )
      expect(isTransient).toBe(false)
    }).pipe(run)
  )

  it.scoped(
    "warns of optional files that are missing, and keeps those that cannot be downloaded for now",
    () =>
      Effect.gen(function* () {
        const { fetch, files, server, set } = yield* setUp({
          find: ["**.image.url"],
          optional: ["1.image.url"]
        })
        files.set("/a.jpg", jpeg("aaa", { etag: '"1"' }))
        files.set("/b.jpg", jpeg("bbb", { etag: '"2"' }))
        const [a, b] = ["a", "b"].map((name) => ({ id: name, image: { url: `/${name}.jpg` } }))
        set({ "objects.json": [a, b] })
        const first = yield* fetch()

        files.delete("/b.jpg")
        const without = yield* fetch(first)
        expect(localPaths(without.read("objects.json"))).toHaveLength(1)
        expect(without.media).toHaveLength(1)
        expect(textsOf(without.fetched.warnings)).toEqual([expect.stringContaining("record b")])

        set({ "objects.json": [b, b] })
        server.next(...Array.from({ length: 4 }, () => ScriptedServer.text(503, "")))
        expect((yield* withAdvancingClock(Effect.flip(fetch(first)))).value.message).toContain("HTTP 503")

        set({ "objects.json": ["", b] })
        server.next(...Array.from({ length: 4 }, () => ScriptedServer.text(503, "")))
        const { value } = yield* withAdvancingClock(fetch(first))
        expect(value.media).toEqual(first.media.slice(1))
        expect(textsOf(value.fetched.warnings)).toEqual([
          expect.stringContaining("1 record without id"),
          expect.stringContaining("HTTP 503")
        ])
      }).pipe(run)
  )

  it.scoped("groups warnings with the same reason, and logs them again only if they change", () =>
    Effect.gen(function* () {
      const { fetch, files, server, set } = yield* setUp({ find: ["**.image.url"], optional: true })
      const objects = ["a", "b", "c", "d", "e"].map((name) => ({
        id: name,
        image: { url: `/${name}.jpg` }
      }))
      set({ "objects.json": objects })
      const logged: Array<string> = []
      const missing = yield* withLog(logged)(fetch())
      const place = (name: string) =>
        `Document "objects.json", record ${name}, field "image.url" ("/${name}.jpg")`
      const warning = `5 files cannot be saved: ${server.url} responds with HTTP 404. ${place("a")}; ${place("b")}; ${place("c")}; and 2 more`
      expect(textsOf(missing.fetched.warnings)).toEqual([warning])
      expect(logged).toEqual([`WARN ${warning}`])

      yield* withLog(logged)(fetch(missing))
      expect(logged).toEqual([`WARN ${warning}`])
      files.set("/a.jpg", { body: "<html>", headers: { "content-type": "text/html" } })
      yield* withLog(logged)(fetch(missing))
      expect(logged.slice(-2)).toEqual([
        expect.stringMatching(/^WARN .*record a.*HTML page/),
        expect.stringMatching(/^WARN 4 files cannot be saved/)
      ])
    }).pipe(run)
  )

  it.scoped("writes paths into a document that another program has open for a moment", () => {
    let refusals = 3
    const locked = withLocked((path) => path.includes(".objects.json.") && refusals-- > 0)
    return Effect.gen(function* () {
      const { fetch, files, set } = yield* setUp()
      files.set("/a.jpg", jpeg("aaa"))
      set({ "objects.json": [{ id: "1", image: { url: "/a.jpg" } }] })
      const { value } = yield* withAdvancingClock(fetch())
      expect(localPaths(value.read("objects.json"))).toEqual(value.media)
      expect(Object.keys(value.files).sort()).toEqual(
        ["media/files.json", ...value.media, "objects.json"].sort()
      )
    }).pipe(Effect.provide(Layer.provideMerge(locked, mediaServices)))
  })

  it.scoped("asks an unreachable server for no more files in the same fetch, but other servers", () =>
    Effect.gen(function* () {
      const { fetch, files, paths, set } = yield* setUp({
        find: ["**.image.url"],
        hosts: ["127.0.0.1"],
        optional: true
      })
      const dead = yield* ScriptedServer.make(ScriptedServer.hangUp)
      files.set("/a.jpg", jpeg("aaa"))
      set({
        "objects.json": [
          ...Array.from({ length: 60 }, (_, id) => ({
            id: `${id}`,
            image: { url: `${dead.url}/${id}.jpg` }
          })),
          { id: "a", image: { url: "/a.jpg" } }
        ]
      })
      const { value } = yield* withAdvancingClock(fetch())
      // Three files, and the files already in progress: six at a time, four tries each.
      expect((yield* Queue.takeAll(dead.received)).length).toBeLessThanOrEqual(32)
      expect(textsOf(value.fetched.warnings)).toEqual([
        expect.stringMatching(/^60 files cannot be saved: the connection to .* failed: .*; and 57 more$/)
      ])
      expect(value.media).toHaveLength(1)
      expect(yield* paths).toEqual(["/a.jpg"])

      yield* withAdvancingClock(fetch())
      expect((yield* Queue.takeAll(dead.received)).length).toBeGreaterThan(0)
    }).pipe(run)
  )

  it.scoped("keeps asking a server that responds with errors", () =>
    Effect.gen(function* () {
      const { fetch, paths, set } = yield* setUp({ find: ["**.image.url"], optional: true })
      set({
        "objects.json": Array.from({ length: 20 }, (_, id) => ({ id: `${id}`, image: { url: `/${id}.jpg` } }))
      })
      yield* fetch()
      expect(yield* paths).toHaveLength(20)
    }).pipe(run)
  )

  it.scoped(
    "is refused if it finds no link, but there are links to files elsewhere, such as in each language",
    () =>
      Effect.gen(function* () {
        const { fetch, set } = yield* setUp({ find: ["**.file.url"] })
        set({ "objects.json": [{ id: "a", page: "https://museum.example/a" }] })
        yield* fetch()
        set({ "objects.json": [{ id: "a", file: { "en-US": { url: "/bell.png?v=2" } } }] })
        const { message } = yield* Effect.flip(fetch())
        expect(message).toContain(
          'finds no link, but there are links to files, the first at "*.file.en-US.url"'
        )
      }).pipe(run)
  )

  it.scoped("saves a file for each address, even if addresses are escaped as in HTML", () =>
    Effect.gen(function* () {
      const { fetch, files, paths, set } = yield* setUp()
      files.set("/image.php", jpeg("a"))
      set({ "a.json": [1, 2].map((id) => ({ id, image: { url: `/image.php?w=1&#038;id=${id}` } })) })
      const { fetched } = yield* fetch()
      expect(yield* paths).toEqual(["/image.php?w=1&id=1", "/image.php?w=1&id=2"])
      expect(fetched.attachments?.total).toBe(2)
      expect(textsOf(fetched.warnings)).toBeUndefined()
    }).pipe(run)
  )

  it.scoped("warns of links whose parameters are lost, because an entity in them is cut", () =>
    Effect.gen(function* () {
      const { fetch, files, set } = yield* setUp()
      files.set("/image.php", jpeg("a"))
      set({
        "a.json": [1, 2].map((id) => ({ id, image: { url: `/image.php?w=1#038;id=${id}` } })),
        "b.json": { image: { url: "/image.php#top" } }
      })
      expect(textsOf((yield* fetch()).fetched.warnings)).toEqual([
        'Document "a.json", field "*.image.url": 2 links in which "#" and a number are in the place of "&": servers do not get the text after "#", so different files may look the same. Correct the links, or change them in "steps"'
      ])
    }).pipe(run)
  )

  it.scoped("warns at each fetch of files that name other files, which are not saved", () =>
    Effect.gen(function* () {
      const { fetch, files, set } = yield* setUp()
      const svg = (inside: string) => ({
        body: `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`,
        headers: { etag: '"1"', "content-type": "image/svg+xml" }
      })
      const gltf = (uri: string) => ({ body: `{"buffers":[{"uri":"${uri}"}]}`, headers: { etag: '"1"' } })
      const all = {
        "film.m3u8": { body: "#EXTM3U\n#EXTINF:9\nfilm1.ts\n", headers: { etag: '"1"' } },
        "dash.mpd": { body: "<MPD><BaseURL>film/</BaseURL></MPD>", headers: { etag: '"1"' } },
        "bell.gltf": gltf("bell.bin"),
        "boat.gltf": gltf("data:application/octet-stream;base64,AA=="),
        "map.svg": svg('<image width="1" xlink:href="harbour.png"/>'),
        "plan.svg": svg('<image href="data:image/png;base64,AA=="/><use href="#a"/>')
      }
      for (const [name, file] of Object.entries(all)) files.set(`/${name}`, file)
      set({ "a.json": Object.keys(all).map((name) => ({ id: name, image: { url: `/${name}` } })) })
      const first = yield* fetch()
      const warnings = textsOf(first.fetched.warnings) ?? []
      expect(warnings).toHaveLength(3)
      expect(warnings[0]).toMatch(
        /^2 files name other files: the other files are not saved, so it does not play offline\. Link to an MP4 file, or save the files together with folderSource\. .*film\.m3u8.*dash\.mpd/
      )
      expect(warnings[1]).toMatch(/bell-\w+\.gltf" names other files: .* Link to a GLB file, or/)
      expect(warnings[2]).toMatch(/map-\w+\.svg" names other files: .* Put the pictures into the SVG, or/)
      expect(textsOf((yield* fetch(first)).fetched.warnings)).toEqual(warnings)
    }).pipe(run)
  )

  it.scoped("warns if no document has a link that matches the patterns, or to a file elsewhere", () =>
    Effect.gen(function* () {
      const { fetch, set } = yield* setUp({ find: ["**.imgae.url"] })
      set({ "objects.json": [{ id: "a", image: null }] })
      const first = yield* fetch()
      const warnings = [expect.stringMatching(/^"media\.find" finds no link .*imgae/)]
      expect(textsOf(first.fetched.warnings)).toEqual(warnings)
      expect(textsOf((yield* fetch(first)).fetched.warnings)).toEqual(warnings)
    }).pipe(run)
  )

  it.scoped.each([
    ["an HTML page", { "content-type": "text/html" }, "<!doctype html><title>Log in</title>"],
    ["an HTML page that claims to be a picture", { "content-type": "image/jpeg" }, "\n<HTML><body>Log in"],
    ["JSON", { "content-type": "application/json" }, '{"error":"no"}'],
    ["JSON that claims nothing", {}, '{"error":"no"}'],
    ["another type", { "content-type": "video/mp4" }, "film"]
  ] as const)("refuses %s if a picture is expected", ([, headers, body]) =>
    Effect.gen(function* () {
      const { fetch, files, set } = yield* setUp({ find: ["**.image.url"], types: ["image/*"] })
      files.set("/a.jpg", { body, headers })
      set({ "objects.json": [{ id: "o1", image: { url: "/a.jpg" } }] })
      const { message } = yield* Effect.flip(fetch())
      expect(message).toMatch(/: it is (an HTML page|JSON|video\/mp4), not image\/(jpeg|\*)/)
    }).pipe(run)
  )

  const json = '{"asset":{"version":"2.0"}}'
  const html = "<!doctype html><title>Bell</title>"
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'

  const named = [
    ["bell.gltf", "application/json", json],
    ["bell.gltf", "text/html; charset=utf-8", json],
    ["map.geojson", "text/plain", json],
    ["map.topojson", "application/json", json],
    ["wave.json", "application/json", '[{"v":1}]'],
    ["app.webmanifest", "application/json", json],
    ["move.lottie", "application/json", json],
    ["wave", "application/json", json],
    ["subtitles.vtt", "text/html", "WEBVTT\n"],
    ["bell.obj", "text/plain", "v 0 0 0\n"],
    ["glow.glsl", "text/plain", "void main() {}"],
    ["notes.md", "text/markdown", "<h1>Bell</h1>"],
    ["bell.glb", "application/json", "glTF\x02\0\0\0"],
    ["bell.usdz", "application/zip", "PK\x03\x04"],
    ["bell.jpg", "text/html", "\xff\xd8\xff\xda\xff\xd9"],
    ["bell.svg", "application/xml", `<?xml version="1.0"?>${svg}`],
    ["bell.svg", "text/xml", svg],
    ["bell.svg", "text/html", `<!-- ${"a".repeat(2000)} -->${svg}`],
    ["bell.svg", "image/svg+xml", svg.replace("<svg", "<svg:svg")],
    ["bell.svg", "text/plain", `<!-- html --><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">${svg}`],
    ["map.kml", "application/xml", '<kml xmlns="http://www.opengis.net/kml/2.2"/>'],
    ["page.html", "text/html", html]
  ] as const

  it.scoped("saves files under their names, whatever type a server states", () =>
    Effect.gen(function* () {
      const { fetch, files, set } = yield* setUp({ find: ["**.file"] })
      for (const [id, [name, type, body]] of named.entries()) {
        files.set(`/${id}/${name}`, { body: Buffer.from(body, "latin1"), headers: { "content-type": type } })
      }
      set({ "objects.json": named.map(([name], id) => ({ id, file: `/${id}/${name}` })) })
      const { read } = yield* fetch()
      expect(withoutDigests(read("objects.json"))).toEqual(
        named.map(([name]) => `media/${name.includes(".") ? name : `${name}.json`}`)
      )
    }).pipe(run)
  )

  const mp4 = "\0\0\0\x18ftypisom\0\0\x02\0isommp42"
  const png = "\x89PNG\r\n\x1a\n\0\0\0\0IEND\xaeB`\x82"
  const recognized = [
    ["/a/photo.png", {}, png, "photo", "png"],
    ["/a/photo.png", { "content-disposition": "attachment; filename=download" }, png, "download", "png"],
    ["/a/photo.png?v=1", { "content-disposition": "attachment; filename=x.tmp" }, png, "x", "png"],
    ["/a/film.mp4", { "content-type": "application/mp4" }, mp4, "film", "mp4"],
    ["/a/bell.ogg", { "content-type": "application/ogg" }, "OggS", "bell", "ogg"],
    ["/a/bell.ogg", { "content-type": "video/ogg" }, "OggS", "bell", "ogg"],
    ["/files/17", {}, png, "17", "png"],
    ["/files/18", {}, mp4, "18", "mp4"],
    ["/files/19", {}, "<svg xmlns='http://www.w3.org/2000/svg'/>", "19", "svg"],
    ["/files/19", { "content-type": "text/xml" }, "<?xml version='1.0'?><svg/>", "19", "svg"],
    ["/image.php", {}, "\xff\xd8\xff\xda\xff\xd9", "image", "jpg"],
    ["/image.php", { "content-type": "x/unknown" }, "\xff\xd8\xff\xda\xff\xd9", "image", "jpg"],
    ["/files/20", {}, "RIFF\0\0\0\0WEBPVP8 ", "20", "webp"],
    ["/files/21", {}, "ID3\x04", "21", "mp3"],
    ["/files/22", {}, "%PDF-1.7", "22", "pdf"],
    ["/files/23", {}, "\x1aE\xdf\xa3", "23", "webm"],
    ["/files/24", {}, "glTF\x02\0\0\0", "24", "glb"],
    ["/files/25", {}, "something else", "25", "bin"],
    ["/bell.bin", {}, "something else", "bell", "bin"],
    ["/sky.ktx3", {}, "something else", "sky", "ktx3"]
  ] as const

  it.scoped("saves each file as a file of its kind, if the server does not know the kind", () =>
    Effect.gen(function* () {
      const { fetch, files, set } = yield* setUp({ find: ["**.file"] })
      for (const [id, [link, more, body]] of recognized.entries()) {
        const headers = { "content-type": "application/octet-stream", ...more }
        files.set(`/${id}${link.replace("?v=1", "")}`, { body: Buffer.from(body, "latin1"), headers })
      }
      set({ "objects.json": recognized.map(([link], id) => ({ id, file: `/${id}${link}` })) })
      const first = yield* fetch()
      expect(withoutDigests(first.read("objects.json"))).toEqual(
        recognized.map(([, , , stem, extension]) => `media/${stem}.${extension}`)
      )
      expect((yield* fetch(first)).media).toEqual(first.media)
    }).pipe(run)
  )

  it.scoped.each([
    ["bell.gltf", "text/html", html],
    ["map.geojson", "application/json", "<html>Log in"],
    ["bell.glb", "application/json", '{"error":"no"}'],
    ["bell.pdf", "application/octet-stream", '{"error":"no"}'],
    ["bell.svg", "text/html", html],
    ["bell.svg", "application/json", '{"error":"no"}'],
    ["subtitles.vtt", "text/html", html],
    ["notes", "text/html", html],
    ["file.php", "text/html", html],
    ["bell.svg", "image/svg+xml", `<!-- saved -->\n${html}`],
    ["bell.svg", "image/svg+xml", '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'],
    ["bell.jpg", "image/jpeg", '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'],
    ["notes", "application/octet-stream", html],
    ["notes", "text/plain", html],
    ["subtitles.vtt", "text/vtt", html],
    ["objects.csv", "text/csv", "<html>Log in"],
    ["letter.docx", "application/octet-stream", `\n${html}`]
  ] as const)(
    "refuses a web page or an API response in place of %s, if a server states %s",
    ([name, type, body]) =>
      Effect.gen(function* () {
        const { fetch, files, set } = yield* setUp({ find: ["**.file"] })
        files.set(`/${name}`, { body, headers: { "content-type": type } })
        set({ "objects.json": [{ id: "1", file: `/${name}` }] })
        expect((yield* Effect.flip(fetch())).message).toMatch(
          /: it is (?:an HTML page|JSON|XML), not .*perhaps/
        )
      }).pipe(run)
  )

  it.scoped("leaves no part of an empty optional file on disk", () =>
    Effect.gen(function* () {
      const { fetch, files, set } = yield* setUp({ find: ["**.image.url"], optional: true })
      files.set("/a.jpg", jpeg(""))
      set({ "objects.json": [{ id: "1", image: { url: "/a.jpg" } }] })
      const { fetched, files: saved } = yield* fetch()
      expect(Object.keys(saved)).toEqual(["objects.json"])
      expect(textsOf(fetched.warnings)).toEqual([expect.stringContaining("it is empty, not image/jpeg")])
    }).pipe(run)
  )

  it.scoped("sends its headers only to the hosts in its options, not to others after a redirect", () =>
    Effect.gen(function* () {
      const elsewhere = yield* ScriptedServer.make(ScriptedServer.text(200, "bbb"))
      const { fetch, requests, server, set } = yield* setUp({
        find: ["**.image.url"],
        hosts: ["127.0.0.1"],
        headers: { "X-Key": Redacted.make("secret"), Authorization: Redacted.make("Bearer secret") }
      })
      server.next((response) => response.writeHead(302, { location: `${elsewhere.url}/b.jpg` }).end())
      set({ "objects.json": [{ id: "o1", image: { url: "/a.jpg" } }] })
      yield* fetch()
      const [asked] = yield* requests
      expect(asked?.headers).toMatchObject({ "x-key": "secret", authorization: "Bearer secret" })
      const { headers } = yield* Queue.take(elsewhere.received)
      expect(headers).not.toHaveProperty("x-key")
      expect(headers).not.toHaveProperty("authorization")
    }).pipe(run)
  )

  it.scoped("downloads nothing from local addresses except the address of its document", () =>
    Effect.gen(function* () {
      const { fetch, set } = yield* setUp()
      const other = yield* ScriptedServer.make(
        ScriptedServer.text(200, "jpeg", { "content-type": "image/jpeg" })
      )
      set({ "objects.json": [{ id: "1", image: { url: `${other.url}/a.jpg` } }] })
      const error = yield* Effect.flip(fetch())
      expect(error.message).toContain("is an address of this machine or of its local link")
      expect(yield* Queue.takeAll(other.received)).toHaveLength(0)
    }).pipe(run)
  )

  it.scoped(
    "downloads nothing from local addresses for public documents, unless the options name the host",
    () =>
      Effect.gen(function* () {
        const server = yield* ScriptedServer.make(ScriptedServer.text(200, "aaa"))
        const { set, source } = makeDocuments("http://museum.invalid/api")
        set({ "objects.json": [{ id: "o1", image: { url: `${server.url}/a.jpg` } }] })
        const fetch = yield* makeFetch({ find: ["**.image.url"] }, source)
        expect((yield* Effect.flip(fetch())).message).toMatch(
          /is an address of this machine.*\. If the link may lead there, add 127\.0\.0\.1:\d+ to "media\.hosts"$/
        )
        const named = yield* makeFetch({ find: ["**.image.url"], hosts: ["127.0.0.1"] }, source)
        expect((yield* named()).media).toHaveLength(1)
      }).pipe(run)
  )

  it.scoped("resumes a download that broke off, if the file has not changed", () =>
    Effect.gen(function* () {
      const { fetch, requests, server, set } = yield* setUp()
      const body = "\x00123456789".repeat(1000)
      const headers = { "content-type": "image/jpeg", etag: '"1"', "last-modified": yesterday }
      server.next(
        (response) => {
          response.writeHead(200, { ...headers, "content-length": body.length })
          response.write(body.slice(0, 4000), () => setImmediate(() => response.destroy()))
        },
        (response) =>
          response
            .writeHead(206, { ...headers, "content-range": `bytes 4000-9999/10000`, "content-length": 6000 })
            .end(body.slice(4000))
      )
      set({ "objects.json": [{ id: "o1", image: { url: "/a.jpg" } }] })
      const { value } = yield* withAdvancingClock(fetch())
      expect(Object.values(value.files)).toContainEqual({ size: 10_000, sha256: sha256(body) })
      expect((yield* requests).map(({ headers }) => [headers.range, headers["if-range"]])).toEqual([
        [undefined, undefined],
        ["bytes=4000-", '"1"']
      ])
    }).pipe(run)
  )
})
