/**
 * Media behind a real static server, and what goes wrong there.
 */
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { SourceProgress } from "../../src/services/ContentSource.ts"
import { type MediaSettings, makeDocuments, makeFetch, mediaServices } from "../support/media.ts"
import { startNginx } from "../support/nginx.ts"
import { isMissing } from "../support/programs.ts"
import { eventually } from "../support/waiting.ts"

const locations = `
    location /slow/ { alias files/; limit_rate 300k; }
    location /signed/ {
      alias files/;
      secure_link $arg_sig,$arg_se;
      secure_link_md5 "$secure_link_expires$uri key";
      if ($secure_link = "") { return 403; }
      if ($secure_link = "0") { return 403; }
    }
    location /loop/ { return 302 $scheme://$http_host$request_uri; }
    location /bomb/ { alias files/; gzip off; add_header Content-Encoding gzip; }
    location /login/ { root files; error_page 404 =200 /museum/login.html; }
`

const hourAgo = new Date(Date.now() - 3_600_000)

const setUp = Effect.fnUntraced(function* (settings: Partial<MediaSettings> = { find: ["**.url"] }) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "vitrine-files-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const write = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content)
    utimesSync(join(folder, name), hourAgo, hourAgo)
  }
  const nginx = yield* startNginx(folder, locations.replaceAll("alias files/", `alias ${folder}/`))
  const origin = new URL(nginx.url).origin
  const inner = makeDocuments(nginx.url)
  mkdirSync(join(folder, "files"))
  return {
    ...nginx,
    origin,
    write,
    /** The next fetch finds links to these paths. */
    link: (...paths: ReadonlyArray<string>) =>
      inner.set({
        "objects.json": paths.map((path, index) => ({ id: `o${index}`, url: `${origin}${path}` }))
      }),
    fetch: yield* makeFetch(settings, inner.source)
  }
})

const random = (bytes: number): Buffer => {
  const blocks = Array.from({ length: bytes / 32 }, (_, index) =>
    createHash("sha256").update(`${index}`).digest()
  )
  return Buffer.concat(blocks)
}

/** Statuses of the requests for a path, in their order. */
const statuses = (requests: ReadonlyArray<string>, path: string) =>
  requests.filter((request) => request.startsWith(`${path} `)).map((request) => Number(request.split(" ")[1]))

describe.skipIf(isMissing("nginx"))("media behind nginx", () => {
  /** Written while it arrives. */
  const film = random(1.25 * 1024 ** 2)

  it.scopedLive("are resumed where the connection was cut", () =>
    Effect.gen(function* () {
      const path = "/slow/film.jpg"
      const { crash, fetch, link, requests, write } = yield* setUp()
      write("film.jpg", film)
      link(path)
      const begun = yield* Deferred.make<void>()
      const fetching = yield* Effect.fork(
        fetch(undefined, ({ attachments }: SourceProgress) => {
          if (attachments !== undefined && attachments.bytes > 0) Deferred.unsafeDone(begun, Effect.void)
        })
      )
      yield* Deferred.await(begun)
      yield* crash(Effect.void)
      const { directory, media } = yield* Fiber.join(fetching)
      const [saved = ""] = media
      expect(readFileSync(join(directory, saved)).equals(film)).toBe(true)
      expect(statuses(yield* requests, path).at(-1)).toBe(206)
    }).pipe(Effect.provide(mediaServices))
  )

  it.scopedLive("are the same after their links were signed again, and missing after they expired", () =>
    Effect.gen(function* () {
      const { fetch, link, origin, requests, write } = yield* setUp()
      const signed = (seconds: number) => {
        const until = Math.floor(Date.now() / 1000) + seconds
        const signature = createHash("md5").update(`${until}/signed/a.jpg key`).digest("base64url")
        return `/signed/a.jpg?sv=1&se=${until}&sig=${signature}`
      }
      write("a.jpg", "picture")
      link(signed(100))
      const first = yield* fetch()
      link(signed(200))
      const second = yield* fetch(first)
      expect(second.fetched.fingerprint).toBe(first.fetched.fingerprint)
      expect(second.fetched.attachments).toMatchObject({ total: 1, reused: 1 })
      // nginx writes a line of its log when the response is out.
      yield* eventually(Effect.map(requests, (lines) => / 304 0$/.test(lines.at(-1) ?? "")))
      link(signed(-1))
      const { isTransient, message } = yield* Effect.flip(fetch(first))
      expect(message).toBe(
        `Source "museum": Document "objects.json", record o0, field "url": the file "/signed/a.jpg" cannot be saved: ${origin} responds with HTTP 403. "media.optional" says which files may be missing`
      )
      expect(isTransient).toBe(false)
    }).pipe(Effect.provide(mediaServices))
  )

  it.scopedLive.each([
    ["redirects to itself", "/loop/a.jpg", "redirects more than 5 times"],
    ["is compressed to more than it may have", "/bomb/bomb.jpg", 'more than the 1048576 of "media.maxBytes"'],
    ["is an HTML page with the status 200", "/login/a.jpg", "it is an HTML page, not image/jpeg"]
  ] as const)("fail the fetch, and leave no files, where one %s", ([, path, reason]) =>
    Effect.gen(function* () {
      const { fetch, link, write } = yield* setUp({ find: ["**.url"], maxBytes: 1024 ** 2 })
      write("bomb.jpg", gzipSync(Buffer.alloc(64 * 1024 ** 2)))
      write("login.html", "<!doctype html><title>Log in</title>")
      link(path)
      expect((yield* Effect.flip(fetch())).message).toContain(reason)
    }).pipe(Effect.provide(mediaServices))
  )

  it.scopedLive("whose names differ only in letter case are two files on every file system", () =>
    Effect.gen(function* () {
      const { fetch, link, write } = yield* setUp()
      write("A.jpg", "large")
      write("a.jpg", "small")
      link("/museum/A.jpg", "/museum/a.jpg")
      const { media } = yield* fetch()
      expect(new Set(media.map((name) => name.toLowerCase())).size).toBe(2)
    }).pipe(Effect.provide(mediaServices))
  )
})
