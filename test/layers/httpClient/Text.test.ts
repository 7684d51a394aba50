/**
 * Texts that are fetched as a whole: packed or not, never more of them than is wanted.
 */
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Queue from "effect/Queue"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import { naming } from "../../../src/layers/httpClient/localAddress.ts"
import * as Text from "../../../src/layers/httpClient/Text.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import * as ScriptedServer from "../../support/ScriptedServer.ts"
import { type Answer, text } from "../../support/ScriptedServer.ts"

const setUp = Effect.gen(function* () {
  const server = yield* ScriptedServer.make(text(200, "12345"))
  const fetchText = yield* Text.make(60_000)
  return {
    server,
    fetch: fetchText({ url: `${server.url}/secret?sig=1`, name: "files.json", maxBytes: 100 }),
    asked: Effect.map(Queue.takeAll(server.received), (requests) =>
      [...requests].map(({ headers }) => headers["accept-encoding"])
    )
  }
})

const gzip =
  (body: Uint8Array): Answer =>
  (response) =>
    response.writeHead(200, { "content-encoding": "gzip", "content-length": body.length }).end(body)

const run = flow(naming("http://localhost"), Effect.provide(HttpClientNode.layer))

describe("a text", () => {
  it.scoped("comes as it is, or in gzip", () =>
    Effect.gen(function* () {
      const { asked, fetch, server } = yield* setUp
      expect(yield* fetch).toBe("12345")
      server.next(gzip(gzipSync("äöü")))
      expect(yield* fetch).toBe("äöü")
      expect(yield* asked).toEqual(["gzip", "gzip"])
    }).pipe(run)
  )

  it.scoped("has no more bytes than it may, compressed and decompressed", () =>
    Effect.gen(function* () {
      const { asked, fetch, server } = yield* setUp
      for (const answer of [text(200, "1".repeat(101)), gzip(gzipSync("1".repeat(10_000)))]) {
        server.next(answer)
        const error = yield* Effect.flip(fetch)
        expect(error).toMatchObject({ _tag: "vitrine/DownloadFailed", isTransient: false, isExpired: false })
        expect(error.message).toContain("gave more than 100 bytes")
        expect(error.message).not.toContain("secret")
      }
      expect(yield* asked).toEqual(["gzip", "gzip"])
    }).pipe(run)
  )

  const cutOff: Answer = (response) =>
    response
      .writeHead(200, { "content-length": 5 })
      .write("123", () => setImmediate(() => response.destroy()))
  it.scoped.each<[string, Answer, ReadonlyArray<string>]>([
    ["as it is where it was cut off", cutOff, ["gzip", "identity"]],
    ["in gzip again where the server has failed", text(503, ""), ["gzip", "gzip"]]
  ])("is asked for %s", ([, answer, encodings]) =>
    Effect.gen(function* () {
      const { asked, fetch, server } = yield* setUp
      server.next(answer)
      const { value } = yield* withAdvancingClock(fetch)
      expect(value).toBe("12345")
      expect(yield* asked).toEqual(encodings)
    }).pipe(run)
  )

  // With the real clock: that of tests does not wait for zlib.
  it.scopedLive("is asked for as it is where gzip is broken", () =>
    Effect.gen(function* () {
      const { asked, fetch, server } = yield* setUp
      server.next(gzip(gzipSync("12345").subarray(0, 15)))
      expect(yield* fetch).toBe("12345")
      expect(yield* asked).toEqual(["gzip", "identity"])
    }).pipe(run)
  )

  it.scoped("that is refused, or comes in another encoding, fails at once", () =>
    Effect.gen(function* () {
      const { asked, fetch, server } = yield* setUp
      const brotli: Answer = (response) => response.writeHead(200, { "content-encoding": "br" }).end("12345")
      for (const [answer, detail, isExpired] of [
        [text(404, ""), "responds with HTTP 404", true],
        [text(401, ""), "responds with HTTP 401", false],
        [brotli, "gives it compressed (br), which was not asked for", false]
      ] as const) {
        server.next(answer)
        const error = yield* Effect.flip(fetch)
        expect(error).toMatchObject({ isExpired, isTransient: false })
        expect(error.message).toContain(detail)
      }
      expect(yield* asked).toHaveLength(3)
    }).pipe(run)
  )
})
