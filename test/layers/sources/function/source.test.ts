import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import * as HttpClientNode from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import { type SourceConfig, source } from "../../../../src/layers/sources/function/source.ts"
import type { FetchTarget, PreviousContent } from "../../../../src/services/ContentSource.ts"
import { contentSourceContract } from "../../../../src/testing/contentSourceContract.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { sha256 } from "../../../support/sha256.ts"
import { textsOf } from "../../../support/warnings.ts"

const environment = Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer)
const run = Effect.provide(environment)

const setUp = (config: Omit<SourceConfig, "id">) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const { fetch, poll } = yield* source({ id: "events", ...config }).make
    const directory = yield* fileSystem.makeTempDirectoryScoped()
    return {
      poll: (before: Option.Option<string>) => (poll === undefined ? Effect.die("no poll") : poll(before)),
      fetch: (target: Partial<FetchTarget> = {}) =>
        fetch({ directory, previous: Option.none(), progress: () => Effect.void, ...target }),
      saved: (document: string) =>
        Effect.map(fileSystem.readFileString(`${directory}/${document}.json`), (text): unknown =>
          JSON.parse(text)
        ),
      text: (document: string) => fileSystem.readFileString(`${directory}/${document}.json`),
      directory
    }
  })

const failure = (config: Omit<SourceConfig, "id">) =>
  Effect.gen(function* () {
    const { fetch } = yield* setUp(config)
    return yield* Effect.flip(fetch())
  })

/** A source whose function does not return. `isCalled` has the signal of the function. */
const hanging = Effect.gen(function* () {
  const isCalled = yield* Deferred.make<AbortSignal>()
  const { fetch } = yield* setUp({
    fetch: ({ signal }) => {
      Deferred.unsafeDone(isCalled, Effect.succeed(signal))
      return new Promise(() => {})
    }
  })
  return { fetch, isCalled }
})

describe("a source from a function", () => {
  it.scopedLive("saves the responses of URLs", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(ScriptedServer.json(200, [{ title: "Opening", id: 1 }]))
      const { fetch, text } = yield* setUp({
        fetch: async ({ get }) => ({ events: await get(`${server.url}/events.json`) })
      })
      const fetched = yield* fetch()
      expect(fetched).toMatchObject({ records: 1, documents: { "events.json": {} } })
      expect(yield* text("events")).toBe('[\n{"id":1,"title":"Opening"}\n]\n')
      expect(fetched.digests).toEqual({ "events.json": sha256(yield* text("events")) })
    }).pipe(run)
  )

  it.scopedLive("reads CSV as records without empty cells, as spreadsheet programs write it", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(
        ScriptedServer.text(200, '\ufeffid;title\r\n1;"Fog; Bell"\r\n2;\r\n')
      )
      const { fetch, saved } = yield* setUp({
        fetch: async ({ get }) => ({ events: await get(server.url, { as: "csv" }) })
      })
      yield* fetch()
      expect(yield* saved("events")).toEqual([{ id: "1", title: "Fog; Bell" }, { id: "2" }])
    }).pipe(run)
  )

  it.scopedLive("warns of what it reads for a long document too", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(ScriptedServer.text(200, "[12345678901234567890]"))
      const { fetch } = yield* setUp({
        fetch: ({ get }) => ({
          numbers: (async function* () {
            yield { id: 1, numbers: await get(server.url) }
          })()
        })
      })
      expect(textsOf((yield* fetch()).warnings)).toEqual([
        "1 number saved as text, to lose no digit: 12345678901234567890"
      ])
    }).pipe(run)
  )

  it.scoped("saves values, lists and long documents, with dates as JSON writes them", () =>
    Effect.gen(function* () {
      const { fetch, saved } = yield* setUp({
        fetch: () => ({
          settings: { open: true, at: new Date(0) },
          empty: [],
          words: ["b", "a"],
          many: (async function* () {
            for (let id = 0; id < 250; id++) yield { id }
          })()
        })
      })
      expect(yield* fetch()).toMatchObject({ records: 252, values: 1 })
      expect(yield* saved("settings")).toEqual({ at: "1970-01-01T00:00:00.000Z", open: true })
      expect(yield* saved("empty")).toEqual([])
      expect(yield* saved("words")).toEqual(["b", "a"])
      expect(yield* saved("many")).toEqual(Array.from({ length: 250 }, (_, id) => ({ id })))
    }).pipe(run)
  )

  it.scoped("checks expectations on the result of its steps", () =>
    Effect.gen(function* () {
      const { fetch, saved } = yield* setUp({
        fetch: () => ({ events: [{ id: 1, title: "opening" }] }),
        steps: [
          (events, { name }) => events.map((event) => ({ ...event, from: name })),
          (document: unknown) => document
        ],
        expect: { events: { fields: { from: "text" } } }
      })
      yield* fetch()
      expect(yield* saved("events")).toEqual([{ id: 1, title: "opening", from: "events" }])
    }).pipe(run)
  )

  it.scoped("saves dates that steps return as JSON writes them", () =>
    Effect.gen(function* () {
      const { fetch, saved } = yield* setUp({
        fetch: () => ({ events: [] }),
        steps: [() => [{ id: 1, at: new Date(0) }]]
      })
      yield* fetch()
      expect(yield* saved("events")).toEqual([{ id: 1, at: "1970-01-01T00:00:00.000Z" }])
    }).pipe(run)
  )

  it.scoped("is rejected if a record is not as expected", () =>
    Effect.gen(function* () {
      const error = yield* failure({
        fetch: () => ({ events: [{ slug: "opening" }] }),
        keys: { events: "slug" },
        expect: { events: { fields: { title: "text" } } }
      })
      expect(error.message).toBe(
        'Source "events": Document "events", record opening, field "title": expected text, found nothing. There is no "title" at all: was it renamed or removed?'
      )
      expect(error.violations).toHaveLength(1)
    }).pipe(run)
  )

  it.scoped('is rejected if "expect" names a path instead of a field', () =>
    Effect.gen(function* () {
      const error = yield* failure({
        fetch: () => ({ posts: [{ id: 1, title: { rendered: "Opening" } }] }),
        expect: { posts: { fields: { "title.rendered": "text" } } }
      })
      expect(error.message).toMatch(
        /There is no "title\.rendered" at all: .* "expect" takes names of fields, no paths\.$/
      )
    }).pipe(run)
  )

  it.scopedLive("saves the files that its documents link to", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make((response, request) =>
        request.url === "/bell.jpg"
          ? response.writeHead(200, { "content-type": "image/jpeg", "content-length": "4" }).end("bell")
          : ScriptedServer.json(200, [{ id: 1, image: `${server.url}/bell.jpg` }])(response, request)
      )
      const { directory, fetch, saved } = yield* setUp({
        fetch: async ({ get }) => ({ objects: await get(server.url) }),
        media: { find: ["**.image"], replace: true, hosts: [new URL(server.url).host] }
      })
      expect(yield* fetch()).toMatchObject({ attachments: { total: 1, bytes: 4, reused: 0 } })
      const [object] = (yield* saved("objects")) as ReadonlyArray<{
        readonly image: { readonly url: string; readonly localPath: string }
      }>
      expect(object?.image.url).toBe(`${server.url}/bell.jpg`)
      const fileSystem = yield* FileSystem.FileSystem
      expect(yield* fileSystem.readFileString(`${directory}/${object?.image.localPath}`)).toBe("bell")
    }).pipe(run)
  )

  it.scopedLive("is unchanged if only the signatures of links differ", () =>
    Effect.gen(function* () {
      let signature = 1
      const server = yield* ScriptedServer.make((response, request) =>
        request.url.startsWith("/bell.jpg")
          ? response.writeHead(200, { "content-type": "image/jpeg" }).end("bell")
          : ScriptedServer.json(200, [
              { id: 1, url: `${server.url}/bell.jpg?X-Amz-Signature=${signature++}` }
            ])(response, request)
      )
      const hosts = [new URL(server.url).host]
      const { fetch } = yield* setUp({
        fetch: async ({ get }) => ({ objects: await get(server.url) }),
        media: { find: ["**.url"], hosts }
      })
      const first = yield* fetch()
      expect((yield* fetch()).fingerprint).toBe(first.fingerprint)
    }).pipe(run)
  )

  it.scoped("can read the documents of the previous version", () =>
    Effect.gen(function* () {
      const { directory, fetch, saved } = yield* setUp({
        fetch: async ({ previous }) => ({
          events: [...((await previous<Array<unknown>>("events")) ?? []), { id: 1 }]
        })
      })
      yield* fetch()
      const before: PreviousContent = {
        directory,
        fingerprint: Option.none(),
        files: { "events.json": { size: 1, sha256: "" } }
      }
      yield* fetch({ previous: Option.some(before) })
      expect(yield* saved("events")).toEqual([{ id: 1 }, { id: 1 }])
    }).pipe(run)
  )

  it.scoped("uses its own poll to find out whether anything has changed", () =>
    Effect.gen(function* () {
      let revision = 1
      const { poll } = yield* setUp({ fetch: () => ({ events: [] }), poll: () => String(revision) })
      expect(yield* poll(Option.none())).toEqual({ cursor: "1", changed: "everything" })
      expect(yield* poll(Option.some("1"))).toEqual({ cursor: "1", changed: "nothing" })
      revision = 2
      expect(yield* poll(Option.some("1"))).toEqual({ cursor: "2", changed: "everything" })
    }).pipe(run)
  )

  it.scoped("has its signal aborted when the fetch is interrupted", () =>
    Effect.gen(function* () {
      const { fetch, isCalled } = yield* hanging
      const fetching = yield* Effect.fork(fetch())
      const signal = yield* Deferred.await(isCalled)
      yield* Fiber.interrupt(fetching)
      expect(signal.aborted).toBe(true)
    }).pipe(run)
  )

  it.scoped("has its signal aborted at once when another source fails", () =>
    Effect.gen(function* () {
      const { fetch, isCalled } = yield* hanging
      const other = Effect.zipRight(Deferred.await(isCalled), Effect.fail("it failed"))
      const failed = yield* Effect.flip(Effect.all([fetch(), other], { concurrency: "unbounded" }))
      expect(failed).toBe("it failed")
      expect((yield* Deferred.await(isCalled)).aborted).toBe(true)
    }).pipe(run)
  )

  it.scoped("has its signal aborted when the fetch ends before the records of a document", () =>
    Effect.gen(function* () {
      const isRead = yield* Deferred.make<AbortSignal>()
      const { fetch } = yield* setUp({
        fetch: ({ signal }) => ({
          events: (async function* () {
            yield { id: 1 }
            Deferred.unsafeDone(isRead, Effect.succeed(signal))
            await new Promise(() => {})
          })()
        })
      })
      const fetching = yield* Effect.fork(fetch())
      const signal = yield* Deferred.await(isRead)
      expect(signal.aborted).toBe(false)
      yield* Fiber.interrupt(fetching)
      expect(signal.aborted).toBe(true)
    }).pipe(run)
  )

  it.scoped("does not have its signal aborted by a fetch that succeeds", () =>
    Effect.gen(function* () {
      const signals: Array<AbortSignal> = []
      const { fetch } = yield* setUp({
        fetch: ({ signal }) => {
          signals.push(signal)
          return { events: [] }
        }
      })
      yield* fetch()
      expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    }).pipe(run)
  )
})

describe("a mistake in the function of a source", () => {
  it.scoped.each<{ readonly what: string; readonly gives: unknown; readonly message: RegExp }>([
    {
      what: "no documents",
      gives: [],
      message: /^Source "events": fetch: it must return an object of documents/
    },
    {
      what: "nothing in a document",
      gives: { a: undefined },
      message: /fetch, document "a": it is undefined/
    },
    { what: "a document without a name", gives: { "": 1 }, message: /it returns a document without a name/ },
    { what: "a function", gives: { a: () => 1 }, message: /fetch, document "a": it is a function/ },
    {
      what: "a value that JSON cannot have",
      gives: { a: 1n },
      message: /fetch, document "a": it is a value that JSON cannot have: /
    },
    {
      what: "a promise",
      gives: { a: (async () => [])() },
      message: /fetch, document "a": it is a promise: an "await" is missing$/
    },
    {
      what: "a promise inside",
      gives: { a: [{ rooms: [1, (async () => [])()] }] },
      message: /fetch, document "a": it is a promise, in "0.rooms.1": an "await" is missing$/
    },
    {
      what: "a map",
      gives: { a: { rooms: new Map([[1, 2]]) } },
      message: /document "a": it is a value of the type Map, in "rooms", which JSON cannot have/
    },
    {
      what: "a set in a long document",
      gives: {
        a: (async function* () {
          yield { tags: new Set([1]) }
        })()
      },
      message: /document "a": it is a value of the type Set, in "tags"/
    },
    {
      what: "a generator",
      gives: {
        a: (function* () {
          yield 1
        })()
      },
      message: /document "a": it is a value of the type Generator, which/
    },
    {
      what: "two documents in one file",
      gives: { A: 1, a: 1 },
      message: /Document "a": another document would be saved/
    }
  ])("is reported with its place: $what", ({ gives, message }) =>
    Effect.gen(function* () {
      const error = yield* failure({ fetch: async () => gives as Record<string, unknown> })
      expect(error.message).toMatch(message)
      expect(error.isTransient).toBe(false)
    }).pipe(run)
  )

  it.scoped("is reported if the function or an iterable throws", () =>
    Effect.gen(function* () {
      const thrown = yield* failure({
        fetch: () => {
          throw new Error("no luck")
        }
      })
      expect(thrown.message).toBe('Source "events": fetch: no luck')
      const iterated = yield* failure({
        fetch: () => ({
          many: (async function* () {
            yield 1
            throw new Error("no luck")
          })()
        })
      })
      expect(iterated.message).toBe('Source "events": fetch, document "many": no luck')
    }).pipe(run)
  )

  it.scoped("is reported if an iterable hangs for ten minutes", () =>
    Effect.gen(function* () {
      const isAsked = yield* Deferred.make<void>()
      const { fetch } = yield* setUp({
        fetch: () => ({
          many: (async function* () {
            yield { id: 1 }
            Deferred.unsafeDone(isAsked, Effect.void)
            await new Promise(() => {})
          })()
        })
      })
      const fetching = yield* Effect.fork(Effect.flip(fetch()))
      yield* Deferred.await(isAsked)
      yield* TestClock.adjust("10 minutes")
      expect(yield* Fiber.join(fetching)).toMatchObject({
        message: 'Source "events": fetch, document "many": it has sent nothing for 10 minutes',
        isTransient: true
      })
    }).pipe(run)
  )

  it.scoped("is reported if a step returns nothing, or a value that is not JSON", () =>
    Effect.gen(function* () {
      const givenBy = (step: () => unknown) =>
        Effect.map(failure({ fetch: () => ({ events: [] }), steps: [step] }), ({ message }) => message)
      expect(yield* givenBy(() => undefined)).toBe(
        'Source "events": Document "events": step 1 gives undefined'
      )
      expect(yield* givenBy(() => [{ tags: new Set([1]) }])).toContain(
        'step 1 gives a value of the type Set, in "0.tags"'
      )
    }).pipe(run)
  )

  it.scoped("is reported if a step throws", () =>
    Effect.gen(function* () {
      const error = yield* failure({
        fetch: () => ({ events: [] }),
        steps: [
          function upperCase() {
            throw new Error("no luck")
          }
        ]
      })
      expect(error.message).toBe('Source "events": Document "events": step 1 (upperCase) failed: no luck')
    }).pipe(run)
  )

  it.scoped("is reported if a step for records gets a value", () =>
    Effect.gen(function* () {
      const { message } = yield* failure({
        fetch: () => ({ Settings: { idle: 60 } }),
        steps: [(rows) => rows.map((row) => row)]
      })
      expect(message).toBe(
        'Source "events": Document "Settings": step 1 failed, which got an object and no list of records: rows.map is not a function'
      )
    }).pipe(run)
  )

  it.scopedLive.each<readonly [string, ScriptedServer.Answer, "json" | "csv", RegExp]>([
    [
      "a refusal, without the query",
      ScriptedServer.text(403, "no"),
      "json",
      /^Source "events": fetch: [^?]*\/a\.json: the server responds with HTTP 403$/
    ],
    [
      "malformed CSV, with its line",
      ScriptedServer.text(200, "id;title\n1;Bell\n2\n"),
      "csv",
      /this is no CSV, row 3 \(2\): the row does not have as many cells as the header line/
    ],
    [
      "a web page instead of JSON",
      ScriptedServer.text(200, "<!doctype html>", { "content-type": "text/html" }),
      "json",
      /this is no JSON \(text\/html\): it looks like a web page/
    ]
  ])("is reported if a server sends %s", ([, answer, as, message]) =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(answer)
      const url = `${server.url}/a.json?token=secret`
      const error = yield* failure({
        fetch: async ({ get }) => ({ events: await (as === "csv" ? get(url, { as }) : get(url)) })
      })
      expect(error.message).toMatch(message)
    }).pipe(run)
  )

  it("is reported with the options", () => {
    expect(source({ id: "a/b", fetch: 1, keys: { a: 1 } } as never).issues.map(({ path }) => path)).toEqual([
      "id",
      "fetch",
      "keys.a"
    ])
  })

  it("is reported if an option names the document __proto__", () => {
    const named = <A>(value: A) => ({ ["__proto__"]: value })
    expect(
      source({ id: "a", fetch: () => ({}), keys: named("id"), expect: named({ minRecords: 1 }) }).issues
    ).toEqual(
      ["expect", "keys"].map((option) => ({
        path: `${option}.__proto__`,
        message: 'there is no such key; known are: every name except "__proto__"'
      }))
    )
  })
})

let content = 0
contentSourceContract(
  "a source of your own",
  Effect.gen(function* () {
    const made = yield* source({ id: "events", fetch: () => ({ events: [{ id: content }] }) }).make
    return { source: made, edit: Effect.sync(() => void content++) }
  }).pipe(run)
)
