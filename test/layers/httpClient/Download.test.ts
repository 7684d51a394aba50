/**
 * Downloads without tables. Attachments have their own tests.
 */
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { SystemError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/TestClock"
import * as Download from "../../../src/layers/httpClient/Download.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import { type Wait, WaitObserver } from "../../../src/services/WaitObserver.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import * as ScriptedServer from "../../support/ScriptedServer.ts"
import { type Answer, text } from "../../support/ScriptedServer.ts"
import { scenarios } from "../../support/scenario.ts"
import { sha256 } from "../../support/sha256.ts"
import { withSyncs } from "../../support/syncedFiles.ts"
import { somebodySleeps } from "../../support/waiting.ts"

const setUp = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const folder = yield* fileSystem.makeTempDirectoryScoped()
  const server = yield* ScriptedServer.make(text(200, "12345"))
  const { download, downloadChanged } = yield* Download.make({
    maxBytes: { value: 8, option: "maxFileBytes" },
    maxTimeout: 60_000
  })
  const reports: Array<number> = []
  return {
    server,
    reports,
    files: fileSystem.readDirectory(folder),
    content: fileSystem.readFileString(`${folder}/file`),
    remove: fileSystem.remove(`${folder}/file`),
    fetch: (size: Option.Option<number> = Option.none(), headers: Record<string, string> = {}) =>
      download({
        url: `${server.url}/secret?sig=1`,
        headers,
        file: `${folder}/file`,
        name: "photos/file",
        size,
        onBytes: (bytes) => Effect.sync(() => reports.push(bytes))
      }),
    /** Over an existing file, if the server does not say that it is unchanged. */
    fetchChanged: Effect.zipRight(
      fileSystem.writeFileString(`${folder}/file`, "before"),
      downloadChanged({
        url: server.url,
        headers: { "if-none-match": '"1"' },
        file: `${folder}/file`,
        name: "photos/file",
        size: Option.none(),
        isUnchanged: ({ status }) => status === 304,
        onBytes: () => Effect.void
      })
    )
  }
})

const services = Layer.mergeAll(
  NodeContext.layer,
  HttpClientNode.layer,
  Layer.succeed(HttpClientNode.NamedHosts, new Set(["localhost"]))
)
const run = Effect.provide(services)

const scenario = scenarios(services, setUp)
const resumed = scenarios(services, Effect.void)

describe("a download", () => {
  scenario(
    "leaves the file alone if the server says that it has not changed",
    function* ({ content, fetchChanged, server }) {
      server.next((response) => response.writeHead(304).end())
      expect(yield* fetchChanged).toBeUndefined()
      expect(yield* content).toBe("before")
      expect(yield* fetchChanged).toEqual({ sha256: sha256("12345"), bytes: 5 })
      expect(yield* content).toBe("12345")
    }
  )

  scenario("is saved in its file, with its progress reported", function* ({ content, fetch, reports }) {
    expect(yield* fetch(Option.some(5))).toEqual({ sha256: sha256("12345"), bytes: 5 })
    expect(yield* content).toBe("12345")
    expect(reports).toEqual([5])
  })

  scenario(
    "is decompressed if the server compresses it unasked, up to its size",
    function* ({ content, fetch, remove, server }) {
      const packed =
        (coding: string, body: Uint8Array): Answer =>
        (response) =>
          response.writeHead(200, { "content-encoding": coding, "content-length": body.length }).end(body)
      server.next(packed("GZIP", gzipSync("1234567")))
      expect(yield* fetch()).toEqual({ sha256: sha256("1234567"), bytes: 7 })
      expect(yield* content).toBe("1234567")
      server.next(packed("x-gzip", gzipSync("1".repeat(1_000_000))), packed("zstd", Buffer.from("1234")))
      yield* remove
      expect((yield* Effect.flip(fetch())).detail).toMatch(/^it has at least \d+ bytes, more than the 8 of/)
      expect((yield* Effect.flip(fetch())).detail).toContain("sends the body compressed (zstd)")
      for (const deflate of [deflateSync, deflateRawSync]) {
        server.next(packed("deflate", deflate("123")))
        expect(yield* fetch()).toMatchObject({ bytes: 3 })
        expect(yield* content).toBe("123")
        yield* remove
        server.next(packed("deflate", deflate("1".repeat(1_000_000))))
        expect((yield* Effect.flip(fetch())).detail).toMatch(/^it has at least \d+ bytes, more than the 8 of/)
      }
      server.next(packed("gzip", gzipSync("1234567").subarray(0, 20)))
      expect((yield* withAdvancingClock(fetch())).value).toMatchObject({ bytes: 5 })
    }
  )

  scenario("is requested again while the server prepares it", function* ({ content, fetch, server }) {
    server.next(text(202, "wait"))
    yield* withAdvancingClock(fetch())
    expect(yield* content).toBe("12345")
  })

  scenario(
    "that fails leaves no file, and reports the reason without the link",
    function* ({ fetch, files, server }) {
      for (const [answer, detail, isExpired] of [
        [text(403, ""), "responds with HTTP 403", true],
        [text(401, ""), "responds with HTTP 401", false],
        [text(200, "123456789"), '9 bytes, more than the 8 of "maxFileBytes"', false]
      ] as const) {
        server.next(answer)
        const failed = yield* Effect.flip(fetch())
        expect(failed).toMatchObject({ _tag: "vitrine/DownloadFailed", isExpired, isTransient: false })
        expect(failed.message).toContain(detail)
        expect(failed.message).not.toContain("secret")
        expect(yield* files).toEqual([])
      }
    }
  )
})

/** The rest of a file of ten bytes, or the wrong data of a faulty server. */
const rest =
  (contentRange: string, body: string, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(206, { "content-range": contentRange, ...headers }).end(body)

const ten = "0123456789"

/** A file of ten bytes with an existing beginning. */
const resuming = Effect.fnUntraced(function* (part: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const folder = yield* fileSystem.makeTempDirectoryScoped()
  const server = yield* ScriptedServer.make(text(200, ten))
  const { download } = yield* Download.make({ maxTimeout: 60_000 })
  yield* fileSystem.writeFileString(`${folder}/part`, part)
  const reports: Array<number> = []
  const ranges: Array<string | undefined> = []
  const waits = yield* Queue.unbounded<Wait>()
  const answering =
    (answer: Answer): Answer =>
    (response, request) => {
      ranges.push(request.headers.range)
      answer(response, request)
    }
  return {
    next: (...answers: ReadonlyArray<Answer>) => server.next(...answers.map(answering)),
    ranges,
    reports,
    content: fileSystem.readFileString(`${folder}/part`),
    fetch: download({
      url: server.url,
      file: `${folder}/part`,
      name: "film",
      size: Option.some(10),
      resumes: true,
      onBytes: (bytes) => Effect.sync(() => reports.push(bytes))
    }).pipe(Effect.provideService(WaitObserver, { waiting: (wait) => Queue.offer(waits, wait) })),
    /** Waits for the pause before a retry, and lets it pass. */
    pass: (pause: Duration.DurationInput) =>
      Queue.take(waits).pipe(Effect.zipRight(somebodySleeps), Effect.zipRight(TestClock.adjust(pause)))
  }
})

const whole = { sha256: sha256(ten), bytes: 10 }
const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((sum, number) => sum + number, 0)

const unreadable = new SystemError({
  reason: "Unknown",
  module: "FileSystem",
  method: "read",
  cause: Object.assign(new Error("i/o error"), { code: "EIO" })
})

it.scoped("a durable download is synced also if the connection breaks after its last byte", () => {
  const synced: Array<string> = []
  const disk = withSyncs((path) => {
    synced.push(path)
    return undefined
  })
  return Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const file = `${yield* fileSystem.makeTempDirectoryScoped()}/file`
    const server = yield* ScriptedServer.make((response) => {
      response.writeHead(200)
      response.write(ten, () => setImmediate(() => response.destroy()))
    })
    const { download } = yield* Download.make({ maxTimeout: 60_000 })
    const target = { url: server.url, file, name: "film", size: Option.some(10), onBytes: () => Effect.void }
    const { value } = yield* withAdvancingClock(download({ ...target, resumes: true, isDurable: true }))
    expect(value).toEqual(whole)
    expect(synced).toEqual([file])
  }).pipe(Effect.provide(HttpClientNode.layer), Effect.provide(disk), run)
})

describe("a download that resumes", () => {
  resumed("requests only the rest", function* () {
    const { content, fetch, next, ranges, reports } = yield* resuming("0123")
    next(rest("bytes 4-9/10", "456789"))
    expect(yield* fetch).toEqual(whole)
    expect(ranges).toEqual(["bytes=4-"])
    expect(yield* content).toBe(ten)
    expect(reports).toEqual([4, 6])
  })

  it.scoped("fails if the existing part cannot be read", () =>
    Effect.gen(function* () {
      const { fetch } = yield* resuming("0123")
      expect((yield* Effect.flip(fetch)).detail).toMatch(
        /^cannot read \/.+\/part: the disk reports an error\.$/
      )
    }).pipe(
      Effect.provideServiceEffect(
        FileSystem.FileSystem,
        Effect.map(FileSystem.FileSystem, (fileSystem) => ({
          ...fileSystem,
          open: () => Effect.fail(unreadable)
        }))
      ),
      run
    )
  )

  resumed("requests nothing if the file is complete", function* () {
    const { fetch, next, ranges } = yield* resuming(ten)
    next(text(500, ""))
    expect(yield* fetch).toEqual(whole)
    expect(ranges).toEqual([])
  })

  resumed("starts again if the response is the whole file, or the part is too large", function* () {
    for (const part of ["xxxx", "0123456789abc"]) {
      const { content, fetch, next, reports } = yield* resuming(part)
      next(text(200, ten))
      expect(yield* fetch).toEqual(whole)
      expect(yield* content).toBe(ten)
      expect(sum(reports)).toBe(10)
    }
  })

  it.scoped.each([
    ["of another place", rest("bytes 0-9/10", ten)],
    ["of another file", rest("bytes 4-11/12", "456789ab")],
    ["that says nothing", rest("", "456789")],
    ["that refuses", text(416, "")],
    ["that refuses conditions", text(412, "")],
    ["that knows no ranges", text(400, "")]
  ] as const)("starts again after a response %s", ([, lie]) =>
    Effect.gen(function* () {
      const { content, fetch, next, pass, ranges } = yield* resuming("0123")
      next(lie, text(200, ten))
      const fetching = yield* Effect.fork(fetch)
      yield* pass("1 second")
      expect(yield* fetching).toEqual(whole)
      expect(ranges).toEqual(["bytes=4-", undefined])
      expect(yield* content).toBe(ten)
    }).pipe(run)
  )

  resumed("continues where the connection broke, and keeps its part if it fails", function* () {
    const { content, fetch, next, pass, ranges, reports } = yield* resuming("")
    const broken =
      (contentRange: string | undefined, body: string): Answer =>
      (response) => {
        response.writeHead(contentRange === undefined ? 200 : 206, {
          "content-length": 10 - Number(/\d+/.exec(contentRange ?? "0")?.[0]),
          ...(contentRange === undefined ? {} : { "content-range": contentRange })
        })
        response.write(body, () => setImmediate(() => response.destroy()))
      }
    next(broken(undefined, "012"), broken("bytes 3-9/10", "34"), text(404, ""))
    const fetching = yield* Effect.fork(fetch)
    yield* pass("1 second")
    yield* pass("2 seconds")
    const failed = yield* Effect.flip(fetching)
    expect(failed).toMatchObject({ isExpired: true })
    expect(ranges).toEqual([undefined, "bytes=3-", "bytes=5-"])
    expect(yield* content).toBe("01234")
    expect(sum(reports)).toBe(5)
  })

  resumed("keeps nothing of a file that is longer than it should be", function* () {
    const { content, fetch, next, reports } = yield* resuming("0123")
    next(rest("bytes 4-20/*", "456789abcdef"))
    expect((yield* Effect.flip(fetch)).message).toContain("at least 16 of 10 bytes")
    expect(yield* content).toBe("")
    expect(sum(reports)).toBe(0)
  })
})

it.effect.prop(
  "has the whole file in the end, wherever its connections break",
  {
    begun: FastCheck.nat({ max: ten.length }),
    cuts: FastCheck.array(FastCheck.integer({ min: 1, max: ten.length }), { maxLength: 8 })
  },
  ({ begun, cuts }) =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const file = `${yield* fileSystem.makeTempDirectoryScoped()}/part`
      yield* fileSystem.writeFileString(file, ten.slice(0, begun))
      const left = [...cuts]
      const server = yield* ScriptedServer.make((response, { headers }) => {
        const [, from = ""] = /^bytes=(\d+)-$/.exec(headers.range ?? "") ?? []
        const body = ten.slice(Number(from))
        const cut = left.shift() ?? 0
        response.writeHead(from === "" ? 200 : 206, {
          "content-length": body.length,
          ...(from === "" ? {} : { "content-range": `bytes ${from}-9/10` })
        })
        if (cut === 0) response.end(body)
        else response.write(body.slice(0, cut), () => setImmediate(() => response.destroy()))
      })
      const { download } = yield* Download.make({ maxTimeout: 60_000 })
      const fetch = download({
        url: server.url,
        file,
        name: "film",
        size: Option.some(ten.length),
        resumes: true,
        onBytes: () => Effect.void
      })
      const { value } = yield* withAdvancingClock(Effect.retry(fetch, { times: cuts.length }))
      expect(value).toEqual(whole)
      expect(yield* fileSystem.readFileString(file)).toBe(ten)
    }).pipe(Effect.scoped, run),
  { fastCheck: { numRuns: 30 } }
)

it.scoped.each([
  ["with its total", rest("bytes 3-3/5", "4", { etag: '"1"' }), rest("bytes 4-4/5", "5", { etag: '"1"' })],
  ["without its total", rest("bytes 3-3/*", "4", { etag: '"1"' }), text(200, "12345")]
] as const)("a download of unknown size does not end with a part %s", ([, ...answers]) =>
  Effect.gen(function* () {
    const { content, fetch, server } = yield* setUp
    server.next(
      (response) => {
        response.writeHead(200, { etag: '"1"' })
        response.write("123", () => setImmediate(() => response.destroy()))
      },
      ...answers
    )
    const { value } = yield* withAdvancingClock(fetch())
    expect(value).toMatchObject({ bytes: 5 })
    expect(yield* content).toBe("12345")
  }).pipe(run)
)

/** The first bytes of a file, and then the end of the connection. */
const beginning =
  (body: string, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(200, { "content-length": 5, ...headers })
    response.write(body, () => setImmediate(() => response.destroy()))
  }

describe("a download whose file changes in between", () => {
  const before = { "last-modified": "Sat, 01 Jan 2022 00:00:00 GMT" }
  const after = { "last-modified": "Sun, 02 Jan 2022 00:00:00 GMT" }

  it.scoped.each([
    ["date", before, after],
    ["weak tag", { ...before, etag: 'W/"1"' }, { ...before, etag: 'W/"2"' }],
    ["date beside a tag", { ...before, etag: '"1"' }, after],
    ["date, which it does not say", before, {}],
    ["tag, which it does not say", { ...before, etag: '"1"' }, before]
  ] as const)(
    "starts again if the rest may have another %s, because its server ignores If-Range",
    ([, ...headers]) =>
      Effect.gen(function* () {
        const { content, fetch, server } = yield* setUp
        server.next(beginning("old", headers[0]), (response) =>
          response.writeHead(206, { "content-range": "bytes 3-4/5", ...headers[1] }).end("45")
        )
        expect((yield* withAdvancingClock(fetch())).value).toEqual({ sha256: sha256("12345"), bytes: 5 })
        expect(yield* content).toBe("12345")
      }).pipe(run)
  )

  scenario("continues if the rest has the same date", function* ({ content, fetch, server }) {
    server.next(beginning("123", before), (response) =>
      response.writeHead(206, { "content-range": "bytes 3-4/5", ...before }).end("45")
    )
    yield* withAdvancingClock(fetch())
    expect(yield* content).toBe("12345")
    yield* Queue.take(server.received)
    expect((yield* Queue.take(server.received)).headers).toMatchObject({
      "if-range": before["last-modified"]
    })
  })

  scenario(
    "starts again without conditions if the changed file breaks off",
    function* ({ content, fetchChanged, server }) {
      const conditional: Answer = (response, { headers }) =>
        "if-none-match" in headers ? response.writeHead(304).end() : response.end("12345")
      for (const answers of [
        [beginning("123"), conditional],
        [beginning("123", { etag: '"2"' }), text(304, "")]
      ]) {
        server.next(...answers)
        const { value } = yield* withAdvancingClock(fetchChanged)
        expect(value).toEqual({ sha256: sha256("12345"), bytes: 5 })
        expect(yield* content).toBe("12345")
      }
    }
  )
})

describe("a download with credentials", () => {
  scenario("sends them only to the origin of its URL", function* ({ fetch, server }) {
    const other = yield* ScriptedServer.make(text(200, "12345"))
    const seen: Array<string | undefined> = []
    const noting =
      (answer: Answer): Answer =>
      (response, request) => {
        seen.push(request.headers.authorization)
        answer(response, request)
      }
    const redirect = (location: string) => noting(text(302, "", { location }))
    server.next(redirect("/elsewhere"), redirect(other.url))
    other.next(redirect(server.url))
    server.next(noting(text(200, "12345")))
    yield* fetch(Option.some(5), { authorization: "Basic eDp5" })
    expect(seen).toEqual(["Basic eDp5", "Basic eDp5", undefined, undefined])
  })
})
