/**
 * Attachments of a table source, over real sockets.
 */
import type { ServerResponse } from "node:http"
import { inspect } from "node:util"
import { SystemError } from "@effect/platform/Error"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import { sha256OfFile } from "../../../../src/files/sha256.ts"
import * as OwnHttpClient from "../../../../src/layers/httpClient/HttpClientNode.ts"
import { attachments } from "../../../../src/layers/sources/tables/AirtableClient.ts"
import * as TableSource from "../../../../src/layers/sources/tables/TableSource.ts"
import { filesIn } from "../../../../src/layers/versions/fileLists.ts"
import type { SourceProgress } from "../../../../src/services/ContentSource.ts"
import { TableSourceClient } from "../../../../src/services/TableSourceClient.ts"
import * as TableSourceClientMemory from "../../../../src/testing/TableSourceClientMemory.ts"
import { memory, memoryNow } from "../../../support/memory.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { hangUp, silence, text } from "../../../support/ScriptedServer.ts"
import { eventLoopTurn, eventually } from "../../../support/waiting.ts"

const options: Parameters<typeof TableSource.make>[0] = {
  id: "exhibits",
  defaultView: null,
  tables: ["Objects"],
  keyValueTables: [],
  appendLocalAttachmentPaths: true,
  maxTimeout: 60_000,
  maxAttachmentBytes: 1024 ** 3
}

/** The signature of the links: it must appear nowhere. */
const signature = "sig=t0p%2Fsecret"

/** A table source over tables in memory, whose attachments are on a host that gives every file its path. */
const setUp = ({
  answer = (response, { url }) => response.end(url.split("?")[0]),
  pageSize = 100,
  ...overrides
}: Partial<typeof options> & {
  readonly answer?: ScriptedServer.Answer
  readonly pageSize?: number
} = {}) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const tables = yield* TableSourceClientMemory.make({ attachments, pageSize })
    const host = yield* ScriptedServer.make(answer)
    const source = yield* TableSource.make({ ...options, ...overrides }).pipe(
      Effect.provideService(TableSourceClient, tables.client)
    )
    const logs = yield* Queue.unbounded<string>()
    const collected = Layer.merge(
      Logger.minimumLogLevel(LogLevel.Debug),
      Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ cause, message }) => {
          logs.unsafeOffer(Cause.isEmpty(cause) ? String(message) : `${message} ${Cause.pretty(cause)}`)
        })
      )
    )
    const directories: Array<string> = []

    const fetch = Effect.fnUntraced(function* (previous?: string, fingerprint?: string) {
      const directory = yield* fileSystem.makeTempDirectoryScoped()
      directories.push(directory)
      const progress: Array<SourceProgress> = []
      const fetched = yield* source
        .fetch({
          directory,
          previous: yield* Effect.transposeMapOption(Option.fromNullable(previous), (directory) =>
            Effect.map(filesOf(directory), (files) => ({
              directory,
              fingerprint: Option.fromNullable(fingerprint),
              files
            }))
          ),
          progress: (step) => Effect.sync(() => progress.push(step))
        })
        .pipe(Effect.provide(collected), Effect.withSpan("outer"))
      const files: Record<string, string> = {}
      const names = yield* fileSystem.readDirectory(directory, { recursive: true })
      for (const name of names.filter((name) => name.split("/").length === 3)) {
        files[name] = (yield* fileSystem.readFileString(`${directory}/${name}`)).slice(0, 100)
      }
      const saved = (table: string) =>
        Effect.map(fileSystem.readFileString(`${directory}/${table}.json`), (text): unknown =>
          JSON.parse(text)
        )
      return { ...fetched, directory, files, progress, saved }
    })

    /** Lets time pass after every failed try, until the effect ends; returns its log. */
    const advancing = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        const said: Array<string> = []
        const waiting = Effect.flatMap(Queue.take(logs), (line) => {
          said.push(line)
          return TestClock.adjust("5 seconds")
        })
        const exit = yield* Effect.raceFirst(Effect.exit(effect), Effect.forever(waiting))
        return { exit, said: [...said, ...(yield* Queue.takeAll(logs))] }
      })

    /** Sets the table `Objects` to one record with one attachment. */
    const setOne = (attachment: object = {}) =>
      tables.setTable("Objects", [record("rec1", [{ ...photo("att1"), ...attachment }])])

    const photo = (id: string, filename = "a.png") => ({
      id,
      filename,
      url: `${host.url}/${id}?${signature}`
    })

    return { ...tables, directories, fetch, fileSystem, host, logs, advancing, photo, setOne }
  })

/** The files of a folder as a version would list them. */
const filesOf = (directory: string) =>
  Effect.gen(function* () {
    const sizes = yield* filesIn(directory)
    const files = yield* Effect.forEach(sizes, ([path, size]) =>
      Effect.map(sha256OfFile(`${directory}/${path}`), (sha256) => [path, { size, sha256 }] as const)
    )
    return Object.fromEntries(files)
  }).pipe(Effect.orElseSucceed(() => ({})))

const record = (id: string, cell: unknown, field = "Photo") => ({ id, fields: { [field]: cell } })

const run = Effect.provide(Layer.merge(NodeContext.layer, OwnHttpClient.layer))

describe("attachments", () => {
  it.scoped("are each downloaded once for lookups and all tables, after all lists are read", () =>
    Effect.gen(function* () {
      const { fetch, host, photo, requests, setTable } = yield* setUp({
        tables: ["Objects", "Rooms"],
        pageSize: 1
      })
      const [one, two] = [photo("att1"), { ...photo("att2", "b"), size: 5, type: "image/png" }]
      yield* setTable("Objects", [
        record("rec1", [one, two]),
        record("rec2", [{ ...one, url: "http://stale" }])
      ])
      yield* setTable("Rooms", [record("rec3", [null, [null, one], { error: "#ERROR!" }, [two]], "Lookup")])
      const { attachments, files, progress, saved } = yield* fetch()

      expect(files).toEqual({ "attachments/att1/a.png": "/att1", "attachments/att2/b": "/att2" })
      expect(yield* Queue.size(host.received)).toBe(2)
      expect(attachments).toEqual({ total: 2, bytes: 10, reused: 0 })
      const localOne = { ...one, localPath: "attachments/att1/a.png" }
      const localTwo = { ...two, localPath: "attachments/att2/b" }
      expect(yield* saved("Objects")).toEqual([
        { id: "rec1", Photo: [localOne, localTwo] },
        { id: "rec2", Photo: [{ ...localOne, url: "http://stale" }] }
      ])
      expect(yield* saved("Rooms")).toEqual([
        { id: "rec3", Lookup: [null, [null, localOne], { error: "#ERROR!" }, [localTwo]] }
      ])
      const allRead = { document: "Objects", documents: { done: 2, total: 2 }, records: 2 }
      expect(progress.slice(-3)).toEqual([
        { document: "Rooms", documents: { done: 1, total: 2 }, records: 1 },
        { ...allRead, attachments: { done: 0, total: 2, bytes: 0 } },
        { ...allRead, attachments: { done: 2, total: 2, bytes: 10 } }
      ])
      expect(yield* requests).toHaveLength(3)
    }).pipe(run)
  )

  it.scoped("are saved as the API returns them if no files are wanted", () =>
    Effect.gen(function* () {
      const { fetch, photo, setOne } = yield* setUp({ appendLocalAttachmentPaths: false })
      yield* setOne()
      const { files, saved } = yield* fetch()
      expect(yield* saved("Objects")).toEqual([{ id: "rec1", Photo: [photo("att1")] }])
      expect(files).toEqual({ "attachments/att1/a.png": "/att1" })
    }).pipe(run)
  )

  it.scoped("of key/value tables are downloaded only for the values that are saved", () =>
    Effect.gen(function* () {
      const { fetch, photo, saved } = yield* Effect.gen(function* () {
        const { fetch, photo, setTable } = yield* setUp({ tables: [], keyValueTables: ["Settings"] })
        yield* setTable("Settings", [
          { id: "rec1", fields: { key: "logo", value: [photo("att1")] } },
          { id: "rec2", fields: { key: "logo", value: [photo("att2")], notes: [photo("att3")] } },
          { id: "rec3", fields: { value: [photo("att4")] } }
        ])
        const fetched = yield* fetch()
        return { fetch: fetched, photo, saved: yield* fetched.saved("Settings") }
      })
      expect(saved).toEqual({ logo: [{ ...photo("att2"), localPath: "attachments/att2/a.png" }] })
      expect(fetch.files).toEqual({ "attachments/att2/a.png": "/att2" })
    }).pipe(run)
  )

  it.scoped("have safe names, and are at the path in the saved table", () =>
    Effect.gen(function* () {
      const { fetch, host, setTable } = yield* setUp()
      const names = [
        "../../../etc/x",
        "con.png",
        "",
        ".",
        "a/b\\c",
        `${"ü".repeat(300)}.jpeg`,
        "a\0b",
        "é",
        "e\u0301"
      ]
      const ids = ["../../..", "attA", "atta", "ATTA", "%", "..", "a/b", "con", ""]
      const all = ids.flatMap((id, one) =>
        names.map((filename, other) => ({ id, filename, url: `${host.url}/${one}/${other}` }))
      )
      yield* setTable("Objects", [record("rec1", all)])
      const { attachments, files, saved } = yield* fetch()
      const [row] = (yield* saved("Objects")) as [{ Photo: Array<{ localPath: string; url: string }> }]
      expect(row.Photo).toHaveLength(81)
      for (const { localPath, url } of row.Photo) {
        expect(localPath).toMatch(/^attachments\/[^/]+\/[^/]+$/)
        // Two spellings of a name are the same file of an attachment.
        expect(files[localPath]?.slice(0, 3)).toBe(url.slice(host.url.length).slice(0, 3))
      }
      expect(attachments?.total).toBe(Object.keys(files).length)
      expect(attachments?.total).toBe(72)
    }).pipe(run)
  )

  it.scoped("may be empty, or have an unknown size and type", () =>
    Effect.gen(function* () {
      const { fetch, host, photo, setTable } = yield* setUp()
      const chunked: ScriptedServer.Answer = (response) => {
        response.write("chun")
        response.end("ked")
      }
      for (const [size, answer, content, filename = "a.png"] of [
        [0, text(200, ""), "", "a.txt"],
        [undefined, text(200, ""), "", "a.txt"],
        [undefined, chunked, "chunked"],
        [7, chunked, "chunked"],
        ["7", text(200, "ab"), "ab"],
        [-1, text(200, "ab"), "ab"],
        [1.5, text(200, "ab"), "ab"]
      ] as const) {
        yield* setTable("Objects", [record("rec1", [{ ...photo("att1"), filename, size }])])
        host.next(answer)
        expect((yield* fetch()).files).toEqual({ [`attachments/att1/${filename}`]: content })
      }
    }).pipe(run)
  )

  it.scoped("are requested without token and tracing headers, by the unchanged link", () =>
    Effect.gen(function* () {
      const { fetch, host, setOne } = yield* setUp()
      const path = "/v1/%2F/a%20b+c?x=a%20b+c&y=%2f&y=&sig=~!()*"
      yield* setOne({ url: `${host.url}${path}#fragment` })
      yield* fetch()
      const { headers, method, url } = yield* Queue.take(host.received)
      expect({ method, url }).toEqual({ method: "GET", url: path })
      for (const header of ["authorization", "traceparent", "b3", "cookie", "referer"]) {
        expect(headers).not.toHaveProperty(header)
      }
      expect(headers["accept-encoding"]).toBe("identity")
    }).pipe(run)
  )

  it.scoped("are downloaded six at a time", () =>
    Effect.gen(function* () {
      const waiting: Array<ServerResponse> = []
      const { fetch, photo, setTable } = yield* setUp({ answer: (response) => waiting.push(response) })
      yield* setTable("Objects", [
        record(
          "rec1",
          Array.from({ length: 20 }, (_, index) => photo(`att${index}`))
        )
      ])
      const fiber = yield* Effect.fork(fetch())
      let most = 0
      for (let answered = 0; answered < 20; answered++) {
        yield* eventually(Effect.sync(() => waiting.length >= Math.min(6, 20 - answered)))
        yield* Effect.repeatN(eventLoopTurn, 20)
        most = Math.max(most, waiting.length)
        waiting.shift()?.end("x")
      }
      expect(most).toBe(6)
      expect((yield* Fiber.join(fiber)).attachments).toEqual({ total: 20, bytes: 20, reused: 0 })
    }).pipe(run)
  )

  it.scoped("take no more memory if they are large", () =>
    Effect.gen(function* () {
      const block = Buffer.alloc(1024 * 1024, 1)
      const samples: Array<number> = []
      const { fetch, setOne } = yield* setUp({
        answer: (response) => {
          let left = 128
          const more = () => {
            while (left > 0) {
              if (left % 8 === 0) samples.push(memoryNow())
              left--
              if (!response.write(block)) return
            }
            response.end()
          }
          response.on("drain", more)
          more()
        }
      })
      yield* setOne({ size: 128 * 1024 * 1024 })
      const before = yield* memory
      const { attachments } = yield* fetch()
      expect(attachments?.bytes).toBe(128 * 1024 * 1024)
      expect(Math.max(...samples) - before).toBeLessThan(64 * 1024 * 1024)
    }).pipe(run)
  )
})

describe("an expired link", () => {
  const refresh = { table: "Objects", recordId: "rec1" }

  it.scoped.each([403, 404, 410])(
    "causes the record to be read again, once for all of its files: HTTP %d",
    (status) =>
      Effect.gen(function* () {
        const { fetch, host, logs, photo, requests, setTable } = yield* setUp({
          answer: (response, { url }) => response.writeHead(url.includes("fresh") ? 200 : status).end("x")
        })
        const photos = (path: string) =>
          Array.from({ length: 20 }, (_, index) => ({ ...photo(`att${index}`), url: `${host.url}${path}` }))
        yield* setTable("Objects", [record("rec1", photos("/stale"))])
        host.next((response) => {
          Effect.runSync(setTable("Objects", [record("rec1", [null, photos("/fresh")], "Lookup")]))
          response.writeHead(status).end()
        })
        const { attachments, files } = yield* fetch()
        expect(attachments?.total).toBe(20)
        expect(new Set(Object.values(files))).toEqual(new Set(["x"]))
        const asked = yield* requests
        expect(asked.slice(1)).toEqual(asked.slice(1).map(() => refresh))
        expect(asked.length).toBeGreaterThan(1)
        // At most the requests that were running when the first fresh link came.
        expect(asked.length).toBeLessThanOrEqual(1 + 6)
        expect(yield* Queue.size(logs)).toBe(0)
      }).pipe(run)
  )

  it.scoped("fails the fetch if the new link is refused, too", () =>
    Effect.gen(function* () {
      const { fetch, host, requests, setOne } = yield* setUp({ answer: text(403, signature) })
      yield* setOne()
      expect((yield* Effect.flip(fetch())).message).toBe(
        `Source "exhibits": Table "Objects", record rec1, field "Photo.0": the file "a.png" cannot be saved: ${host.url} responds with HTTP 403, with a fresh link too`
      )
      expect((yield* requests).slice(1)).toEqual([refresh])
      expect(yield* Queue.size(host.received)).toBe(2)
    }).pipe(run)
  )

  it.scoped("fails the fetch if the record, or the attachment in it, is gone", () =>
    Effect.gen(function* () {
      const { fetch, host, photo, setOne, setTable } = yield* setUp()
      const gone =
        (records: Parameters<typeof setTable>[1]): ScriptedServer.Answer =>
        (response) => {
          Effect.runSync(setTable("Objects", records))
          response.writeHead(410).end()
        }
      for (const [records, words] of [
        [[], "responds with HTTP 410, and the record cannot be read again: there is no record rec1"],
        [[record("rec1", [])], "responds with HTTP 410, and the record no longer has it"],
        [[record("rec1", [{ ...photo("att1"), url: "nowhere" }])], "its link is no http or https address"]
      ] as const) {
        yield* setOne()
        host.next(gone(records))
        const { message } = yield* Effect.flip(fetch())
        expect(message).toContain(`record rec1, field "Photo.0": the file "a.png" cannot be saved: `)
        expect(message).toContain(words)
      }
    }).pipe(run)
  )
})

describe("a download", () => {
  const half: ScriptedServer.Answer = (response) => {
    response.writeHead(200, { "content-length": 5 }).write("ab", () => response.destroy())
  }

  it.scoped("is retried after an error of the server or the connection", () =>
    Effect.gen(function* () {
      const { fetch, host, advancing, setOne } = yield* setUp()
      for (const [answer, words] of [
        [hangUp, "the connection to"],
        [half, "the connection to"],
        [text(200, "abc"), "gave 3 of 5 bytes"],
        [text(500, "abc"), "HTTP 500"],
        [text(429, "abc", { "retry-after": "5" }), "HTTP 429"]
      ] as const) {
        yield* setOne({ size: 5 })
        host.next(answer)
        const { exit, said } = yield* advancing(fetch())
        expect(said).toEqual([expect.stringContaining(words)])
        expect(said[0]).toMatch(/Trying again in [15]s$/)
        expect(exit).toMatchObject({
          _tag: "Success",
          value: { files: { "attachments/att1/a.png": "/att1" } }
        })
      }
    }).pipe(run)
  )

  it.scoped("is refused if a web page comes instead of the file, unless the file is a page by its name", () =>
    Effect.gen(function* () {
      const { fetch, setOne } = yield* setUp({ answer: text(200, "<!doctype html><title>Log in</title>") })
      for (const [filename, expected] of [
        ["a.png", "image/png"],
        ["a.csv", "text/csv"],
        ["a", "a file"]
      ]) {
        yield* setOne({ filename })
        expect((yield* Effect.flip(fetch())).message).toContain(
          `it is an HTML page, not ${expected}: perhaps`
        )
      }
      yield* setOne({ filename: "a.html" })
      expect(yield* fetch()).toMatchObject({ attachments: { total: 1 } })
    }).pipe(run)
  )

  it.scoped("fails after four attempts, with growing pauses", () =>
    Effect.gen(function* () {
      const { fetch, host, advancing, setOne } = yield* setUp({ answer: text(200, "abc") })
      yield* setOne({ size: 5 })
      const { exit, said } = yield* advancing(fetch())
      expect(said.map((line) => /Trying again in (.*)$/.exec(line)?.[1])).toEqual(["1s", "2s", "4s"])
      expect(String(exit)).toContain(`${host.url} gave 3 of 5 bytes`)
      expect(yield* Effect.flip(exit)).toMatchObject({ _tag: "vitrine/SourceError", isTransient: true })
      expect(yield* Queue.size(host.received)).toBe(4)
    }).pipe(run)
  )

  it.scoped("fails at once if a retry would not help", () =>
    Effect.gen(function* () {
      const { fetch, host, logs, setOne } = yield* setUp()
      for (const [answer, words] of [
        [text(401, ""), "responds with HTTP 401"],
        [text(206, "abcde"), "responds with HTTP 206"],
        [text(302, ""), "responds with HTTP 302"],
        [text(200, "abcdef"), "gave at least 6 of 5 bytes"],
        [text(200, "abcde", { "content-encoding": "zstd" }), "compressed"],
        [text(302, "", { location: "file:///etc/passwd" }), "its link is no http or https address"],
        [text(302, "", { location: "http://:" }), "its link is no http or https address"]
      ] as const) {
        yield* setOne({ size: 5 })
        host.next(answer)
        const failed = yield* Effect.flip(fetch())
        expect(failed.message).toContain(words)
        expect(failed).toMatchObject({ _tag: "vitrine/SourceError", isTransient: false })
      }
      for (const url of ["", "att1", "ftp://127.0.0.1/a", "data:,x"]) {
        yield* setOne({ url })
        expect((yield* Effect.flip(fetch())).message).toContain("its link is no http or https address")
      }
      expect(yield* Queue.size(logs)).toBe(0)
    }).pipe(run)
  )

  it.scoped('has "maxTimeout" until the response begins and for each pause, not for the whole', () =>
    Effect.gen(function* () {
      const { directories, fetch, fileSystem, host, logs, setOne } = yield* setUp()
      const stalledText = `nothing came from ${host.url} for 60000 ms ("maxTimeout")`
      const bytesThere = (bytes: number) =>
        fileSystem.readDirectory(`${directories[0]}/attachments/att1`).pipe(
          Effect.flatMap(([file]) => fileSystem.stat(`${directories[0]}/attachments/att1/${file}`)),
          Effect.map(({ size }) => Number(size) === bytes),
          Effect.orElseSucceed(() => false),
          eventually
        )
      const slow = yield* Deferred.make<ServerResponse>()
      const part = "\x01".repeat(60 * 1024)
      yield* setOne()
      host.next(
        silence,
        (response) => response.write("a"),
        (response) => Deferred.unsafeDone(slow, Effect.succeed(response))
      )
      const fiber = yield* Effect.fork(fetch())

      const first = yield* Queue.take(host.received)
      yield* TestClock.adjust("59999 millis")
      expect(yield* Queue.size(logs)).toBe(0)
      yield* TestClock.adjust("1 millis")
      expect(yield* Queue.take(logs)).toContain(stalledText)
      yield* Deferred.await(first.closed)
      yield* TestClock.adjust("1 second")

      const second = yield* Queue.take(host.received)
      yield* bytesThere(1)
      let seconds = 0
      while ((yield* Queue.size(logs)) === 0) {
        seconds++
        yield* Effect.zipRight(TestClock.adjust("1 second"), eventLoopTurn)
      }
      expect(seconds).toBeGreaterThanOrEqual(59)
      expect(yield* Queue.take(logs)).toContain(stalledText)
      yield* Deferred.await(second.closed)
      yield* TestClock.adjust("2 seconds")

      const response = yield* Deferred.await(slow)
      for (const parts of [1, 2, 3, 4, 5]) {
        response.write(part)
        yield* bytesThere(parts * part.length)
        yield* TestClock.adjust("50 seconds")
      }
      response.end()
      const { attachments, progress } = yield* Fiber.join(fiber)
      expect(attachments).toEqual({ total: 1, bytes: 5 * part.length, reused: 0 })
      // The bytes of a try are reported while they arrive, and subtracted if the try fails.
      expect(
        progress.flatMap(({ attachments, waiting }) =>
          attachments === undefined || waiting !== undefined ? [] : [[attachments.done, attachments.bytes]]
        )
      ).toEqual([
        [0, 0],
        [0, 1],
        [0, 0],
        ...[1, 2, 3, 4, 5].map((parts) => [0, parts * part.length]),
        [1, 5 * part.length]
      ])
    }).pipe(run)
  )

  it.scoped("fails if it is larger than allowed, with and without a Content-Length", () =>
    Effect.gen(function* () {
      const { directories, fetch, fileSystem, host, setOne } = yield* setUp({ maxAttachmentBytes: 5 })
      const chunked: ScriptedServer.Answer = (response) => {
        response.write("123")
        response.write("456")
      }
      for (const [size, answer, bytes] of [
        [6, text(200, "123456"), "6"],
        [undefined, text(200, "1234567", { "content-length": "7" }), "7"],
        [undefined, chunked, "at least 6"]
      ] as const) {
        yield* setOne({ size })
        host.next(answer)
        expect((yield* Effect.flip(fetch())).message).toContain(
          `cannot be saved: it has ${bytes} bytes, more than the 5 of "maxAttachmentBytes"`
        )
        expect(yield* fileSystem.exists(`${directories.at(-1)}/attachments/att1/a.png`)).toBe(false)
        host.forget()
      }
      // The size in the cell makes a request unnecessary.
      expect(yield* Queue.size(host.received)).toBe(2)
      yield* setOne({ size: 5 })
      expect((yield* fetch()).files).toEqual({ "attachments/att1/a.png": "/att1" })
    }).pipe(run)
  )

  it.scoped("follows redirects of any kind and to any host, up to a limit", () =>
    Effect.gen(function* () {
      const other = yield* ScriptedServer.make(text(200, "there"))
      const { fetch, host, setOne } = yield* setUp()
      yield* setOne()
      for (const status of [301, 302, 303, 307, 308]) {
        host.next(
          text(status, "moved", { location: "/b/../c?d=%2F" }),
          text(status, "moved", { location: `${other.url}/x` })
        )
        expect((yield* fetch()).files).toEqual({ "attachments/att1/a.png": "there" })
        yield* Queue.take(host.received)
        expect((yield* Queue.take(host.received)).url).toBe("/c?d=%2F")
        const { headers, url } = yield* Queue.take(other.received)
        expect(url).toBe("/x")
        expect(headers).not.toHaveProperty("authorization")
        expect(headers).not.toHaveProperty("traceparent")
      }
      host.next(...Array.from({ length: 9 }, () => text(302, "", { location: "/again" })))
      const { message } = yield* Effect.flip(fetch())
      expect(message).toContain(`${host.url} redirects more than 5 times`)
      expect(yield* Queue.size(host.received)).toBe(6)
    }).pipe(run)
  )

  it.each([
    ["fetch", FetchHttpClient.layer],
    ["node:http", NodeHttpClient.layer]
  ] as const)("works with %s as with the HTTP client of the command line", (_, httpClient) =>
    Effect.gen(function* () {
      const { fetch, host, logs, advancing, setOne } = yield* setUp()
      yield* setOne({ size: 5 })
      host.next(text(302, "", { location: "/moved" }), text(200, "12345"))
      expect((yield* fetch()).files).toEqual({ "attachments/att1/a.png": "12345" })
      host.next(half)
      expect((yield* advancing(fetch())).said).toHaveLength(1)
      host.next(silence)
      const fiber = yield* Effect.fork(fetch())
      const { closed } = yield* Effect.repeat(Queue.take(host.received), { times: 4 })
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(closed)
      expect(yield* Queue.size(logs)).toBe(0)
    }).pipe(
      Effect.provide(Layer.merge(NodeContext.layer, httpClient)),
      Effect.scoped,
      Effect.provide(TestContext.TestContext),
      Effect.runPromise
    )
  )

  it.scoped("ends at once when another download fails", () =>
    Effect.gen(function* () {
      const stalls: ScriptedServer.Answer = (response) => response.writeHead(200).write("a")
      const { fetch, host, photo, setTable } = yield* setUp({ answer: silence })
      yield* setTable("Objects", [record("rec1", [photo("att1"), photo("att2"), photo("att3")])])
      const responses: Array<ServerResponse> = []
      const last: ScriptedServer.Answer = (response) => responses.push(response)
      host.next(silence, stalls, last)
      const failing = yield* Effect.fork(Effect.flip(fetch()))
      const others = yield* Queue.takeN(host.received, 3)
      yield* eventually(Effect.sync(() => responses.length === 1))
      responses[0]?.writeHead(418).end()
      expect((yield* Fiber.join(failing)).message).toContain("HTTP 418")
      yield* Effect.forEach(others, ({ closed }) => Deferred.await(closed))
    }).pipe(run)
  )

  it.scoped("names the file that it cannot write", () =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const full = new SystemError({
        reason: "Unknown",
        module: "FileSystem",
        method: "writeFile",
        cause: Object.assign(new Error("no space left on device"), { code: "ENOSPC" })
      })
      const { fetch, setOne } = yield* setUp().pipe(
        Effect.provideService(FileSystem.FileSystem, {
          ...fileSystem,
          open: (path, options) =>
            path.includes("attachments") ? Effect.fail(full) : fileSystem.open(path, options)
        })
      )
      yield* setOne()
      const { message } = yield* Effect.flip(fetch())
      expect(message).toMatch(
        /rec1, field "Photo.0": .*: cannot write \/.+\/attachments\/att1\/\.[0-9a-f]+: the disk is full, or has no inode left for another file\.$/
      )
    }).pipe(run)
  )

  it.scoped("shows only the origin of a link in every error", () =>
    Effect.gen(function* () {
      const { fetch, host, advancing, setOne } = yield* setUp()
      const redirect = text(302, "", { location: `/moved?${signature}` })
      for (const answer of [
        hangUp,
        half,
        text(403, signature),
        text(500, signature),
        text(204, ""),
        redirect
      ]) {
        yield* setOne({ size: 5 })
        host.next(...Array.from({ length: 6 }, () => answer))
        const { exit, said } = yield* advancing(fetch())
        expect(Exit.isFailure(exit)).toBe(true)
        const cause = Exit.isFailure(exit) ? exit.cause : Cause.empty
        const shown = [
          Cause.pretty(cause, { renderErrorCause: true }),
          inspect(cause, { depth: 20, showHidden: true }),
          JSON.stringify(cause),
          ...said
        ].join("\n")
        expect(shown).toContain(host.url)
        expect(shown).not.toContain("secret")
        yield* Effect.sync(() => host.forget())
      }
      for (const url of [`ftp://h/?${signature}`, `http://a b/?${signature}`]) {
        yield* setOne({ url })
        expect(inspect(yield* Effect.flip(fetch()), { depth: 20, showHidden: true })).not.toContain("secret")
      }
    }).pipe(run)
  )
})

describe("files of the previous version", () => {
  const inode = (file: string) =>
    Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
      Effect.map(fileSystem.stat(file), ({ ino }) => Option.getOrThrow(ino))
    )

  const file = "attachments/att1/a.png"

  it.scoped("are linked, and not downloaded again", () =>
    Effect.gen(function* () {
      const { fetch, host, photo, setTable } = yield* setUp()
      yield* setTable("Objects", [record("rec1", [{ ...photo("att1"), size: 5 }, photo("att2")])])
      const first = yield* fetch()
      yield* Queue.takeAll(host.received)
      const both = [{ ...photo("att1"), size: 5, url: `${host.url}/signed/anew` }, photo("att2")]
      yield* setTable("Objects", [record("rec1", both)])
      const second = yield* fetch(first.directory)
      expect(second.attachments).toEqual({ total: 2, bytes: 10, reused: 2 })
      expect(second.files).toEqual(first.files)
      expect(second.fingerprint).toBe(first.fingerprint)
      expect(second.progress.at(-1)?.attachments).toEqual({ done: 2, total: 2, bytes: 10 })
      expect(yield* inode(`${second.directory}/${file}`)).toBe(yield* inode(`${first.directory}/${file}`))
      expect(yield* Queue.size(host.received)).toBe(0)

      yield* setTable("Objects", [record("rec1", [...both, photo("att3")])])
      const third = yield* fetch(second.directory)
      expect(third.attachments).toEqual({ total: 3, bytes: 15, reused: 2 })
      expect(third.progress.flatMap(({ attachments = [] }) => attachments)).toEqual([
        { done: 2, total: 3, bytes: 10 },
        { done: 3, total: 3, bytes: 15 }
      ])
      expect(Object.keys(third.files)).toHaveLength(3)
      expect(third.fingerprint).not.toBe(first.fingerprint)
      expect(yield* Queue.size(host.received)).toBe(1)
    }).pipe(run)
  )

  it.scoped("are not touched if nothing has changed", () =>
    Effect.gen(function* () {
      const { fetch, host, photo, setTable } = yield* setUp()
      yield* setTable("Objects", [record("rec1", [photo("att1"), photo("att2")])])
      const first = yield* fetch()
      yield* Queue.takeAll(host.received)
      const second = yield* fetch(first.directory, first.fingerprint)
      expect(second.attachments).toEqual({ total: 2, bytes: 10, reused: 2 })
      expect(second.fingerprint).toBe(first.fingerprint)
      expect(second.files).toEqual({})

      yield* setTable("Objects", [record("rec1", [photo("att1")])])
      expect((yield* fetch(first.directory, first.fingerprint)).files).toEqual({ [file]: "/att1" })
      expect(yield* Queue.size(host.received)).toBe(0)
    }).pipe(run)
  )

  it.scoped(
    "are downloaded anew if they have another size, are no files, or are gone, and are never written to",
    () =>
      Effect.gen(function* () {
        const fileSystem = yield* FileSystem.FileSystem
        const { fetch, setOne } = yield* setUp()
        yield* setOne({ size: 5 })
        const previous = yield* fileSystem.makeTempDirectoryScoped()
        yield* fileSystem.makeDirectory(`${previous}/attachments/att1`, { recursive: true })

        yield* fileSystem.writeFileString(`${previous}/${file}`, "older!")
        const { attachments, files } = yield* fetch(previous)
        expect(files).toEqual({ [file]: "/att1" })
        expect(attachments).toMatchObject({ reused: 0 })
        expect(yield* fileSystem.readFileString(`${previous}/${file}`)).toBe("older!")

        yield* fileSystem.remove(`${previous}/${file}`)
        yield* fileSystem.makeDirectory(`${previous}/${file}`)
        yield* setOne()
        expect((yield* fetch(previous)).files).toEqual({ [file]: "/att1" })
        expect((yield* fetch(`${previous}/gone`)).files).toEqual({ [file]: "/att1" })
      }).pipe(run)
  )
})
