/**
 * Ranges and conditions, by models of RFC 9110.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as server from "../../support/contentServer.ts"
import { sha256 } from "../../support/sha256.ts"

const { get, versionId } = server

const size = 1000
const content = Buffer.from(Array.from({ length: size }, (_, index) => (index * 7) % 251))
const etag = `"${sha256(content)}"`
const target = `/versions/${versionId}/exhibits/film.mp4`

/** A server with a film. */
const running = Layer.unwrapScoped(
  Effect.gen(function* () {
    const downloads = yield* server.makeFolder
    yield* server.addVersion(downloads, { "film.mp4": content, "empty.txt": "" })
    return server.layer({ downloadPath: downloads })
  })
).pipe(Layer.provideMerge(server.environment))

const position = FastCheck.oneof(
  FastCheck.nat(size + 5),
  FastCheck.constantFrom(0, 1, size - 1, size, 2 ** 53)
)

const range = FastCheck.oneof(
  FastCheck.tuple(position, position).map(([first, last]) => `bytes=${first}-${last}`),
  position.map((first) => `bytes=${first}-`),
  position.map((length) => `bytes=-${length}`)
)

/** The part that a well-formed range means (section 14.1.2), `undefined` where none of it is there. */
const partOf = (range: string): readonly [first: number, last: number] | undefined => {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? []
  const part =
    first === ""
      ? ([Math.max(0, size - Number(last)), size - 1] as const)
      : ([Number(first), last === "" ? size - 1 : Math.min(Number(last), size - 1)] as const)
  return part[0] < size && part[0] <= part[1] ? part : undefined
}

const wholeFile = (answer: server.Answer) => {
  expect(answer).toMatchObject({ status: 200, headers: { "content-length": String(size), etag } })
  expect(answer.headers).not.toHaveProperty("content-range")
  expect(answer.body.equals(content)).toBe(true)
}

describe("a range", () => {
  it.scoped.prop(
    "returns its part of the file, the whole file, or 416",
    { range },
    ({ range }) =>
      Effect.gen(function* () {
        const answer = yield* get(target, { Range: range })
        const part = partOf(range)
        if (part === undefined) {
          expect(answer, range).toMatchObject({
            status: 416,
            headers: { "content-range": `bytes */${size}`, "cache-control": "no-store" }
          })
          expect(answer.headers).not.toHaveProperty("etag")
        } else if (answer.status === 200) {
          // A server may ignore a range that is the whole file.
          expect(part).toEqual([0, size - 1])
          wholeFile(answer)
        } else {
          const [first, last] = part
          expect(answer, range).toMatchObject({
            status: 206,
            headers: {
              "content-range": `bytes ${first}-${last}/${size}`,
              "content-length": String(last - first + 1),
              "content-type": "video/mp4",
              etag
            }
          })
          expect(answer.body.equals(content.subarray(first, last + 1))).toBe(true)
        }
      }).pipe(Effect.provide(running)),
    { fastCheck: { numRuns: 30 } }
  )

  it.scoped.each([
    ["lines=0-1"],
    ["bytes"],
    ["bytes="],
    ["bytes=a-b"],
    ["bytes=--1"],
    ["bytes=0-1,5-6"],
    ["bytes=0-1, 900-"],
    [`bytes=${"0-1,".repeat(500)}0-1`]
  ])("that is none, or more than one, gives a whole file, one part or 416: %#", ([range = ""]) =>
    Effect.gen(function* () {
      const answer = yield* get(target, { Range: range })
      if (answer.status === 206) {
        const [, first, last] = /^bytes (\d+)-(\d+)\/1000$/.exec(answer.headers["content-range"] ?? "") ?? []
        expect(answer.body.equals(content.subarray(Number(first), Number(last) + 1))).toBe(true)
      } else if (answer.status === 416) {
        expect(answer.headers["content-range"]).toBe(`bytes */${size}`)
      } else {
        wholeFile(answer)
      }
    }).pipe(Effect.provide(running))
  )

  it.scoped("of an empty file is 416, or nothing", () =>
    Effect.gen(function* () {
      const empty = `/versions/${versionId}/exhibits/empty.txt`
      expect(yield* get(empty)).toMatchObject({ status: 200, headers: { "content-length": "0" } })
      expect((yield* get(empty, { Range: "bytes=0-" })).status).toBe(416)
      expect((yield* get(empty, { Range: "bytes=-5" })).status).toBe(416)
    }).pipe(Effect.provide(running))
  )
})

const other = `"${"0".repeat(64)}"`
const tags = FastCheck.array(FastCheck.constantFrom(etag, `W/${etag}`, other, `W/${other}`), {
  minLength: 1,
  maxLength: 3
})

const conditions = FastCheck.record(
  {
    ifNoneMatch: FastCheck.oneof(
      tags.map((tags) => tags.join(", ")),
      FastCheck.constant("*")
    ),
    /** Seconds that the date is after the time of the file. */
    ifModifiedSince: FastCheck.constantFrom(-3600, 0, 3600),
    ifRange: FastCheck.constantFrom(etag, other, -3600, 0),
    range: FastCheck.constant("bytes=10-19")
  },
  { requiredKeys: [] }
)

describe("a conditional request", () => {
  it.scoped.prop(
    "follows the order of RFC 9110, section 13.2.2",
    { conditions },
    ({ conditions: { ifModifiedSince, ifNoneMatch, ifRange, range } }) =>
      Effect.gen(function* () {
        const modified = Date.parse((yield* get(target)).headers["last-modified"] ?? "")
        const dateAfter = (seconds: number) => new Date(modified + seconds * 1000).toUTCString()
        const answer = yield* get(target, {
          ...(ifNoneMatch === undefined ? {} : { "If-None-Match": ifNoneMatch }),
          ...(ifModifiedSince === undefined ? {} : { "If-Modified-Since": dateAfter(ifModifiedSince) }),
          ...(ifRange === undefined
            ? {}
            : { "If-Range": typeof ifRange === "number" ? dateAfter(ifRange) : ifRange }),
          ...(range === undefined ? {} : { Range: range })
        })
        const isSame =
          ifNoneMatch === undefined
            ? ifModifiedSince !== undefined && ifModifiedSince >= 0
            : ifNoneMatch === "*" || ifNoneMatch.includes(etag)
        if (isSame) {
          expect(answer).toMatchObject({ status: 304, headers: { etag } })
          expect(answer.body).toHaveLength(0)
        } else if (range !== undefined && (ifRange === undefined || ifRange === etag || ifRange === 0)) {
          expect(answer).toMatchObject({ status: 206, headers: { "content-range": "bytes 10-19/1000" } })
          expect(answer.body.equals(content.subarray(10, 20))).toBe(true)
        } else {
          wholeFile(answer)
        }
      }).pipe(Effect.provide(running)),
    { fastCheck: { numRuns: 30 } }
  )

  it.scoped("gets 412 where the file has changed", () =>
    Effect.gen(function* () {
      expect((yield* get(target, { "If-Match": etag })).status).toBe(200)
      const failed = yield* get(target, { "If-Match": other })
      expect(failed).toMatchObject({ status: 412, headers: { "content-type": "application/json" } })
      const old = { "If-Unmodified-Since": "Sat, 21 Nov 2020 09:30:00 GMT" }
      expect((yield* get(target, old)).status).toBe(412)
    }).pipe(Effect.provide(running))
  )
})
