/**
 * The change feed of a hosted base, with the local server of these tests.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import * as httpClient from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as AirtableClient from "../../../../src/layers/sources/airtable/AirtableClient.ts"
import { RequestPacing } from "../../../../src/services/RequestPacing.ts"
import type { ChangeFeed } from "../../../../src/services/TableSourceClient.ts"
import { withLog } from "../../../support/logged.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { type Options, start } from "../../../support/tableServer.ts"
import { temporaryFolder } from "../../../support/temporaryFolder.ts"

const unpaced = Layer.sync(RequestPacing, () => ({
  pacer: () => Effect.succeed({ take: Effect.void, hold: () => Effect.void })
}))

const environment = Layer.mergeAll(NodeContext.layer, httpClient.layer, unpaced)

const tables = ["Objects", "Rooms", "Settings"]

/** A base of three tables and a controller that asks what has changed in it. */
const museum = (options: Options = {}) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder({
      "Objects.csv": "Title,Year\nAstrolabe,1520\n",
      "Rooms.csv": "Name\nHall\n",
      "Settings.csv": "key,value\ntitle,Show\n"
    })
    const server = yield* start(folder.directory, { rateLimit: false, ...options })
    const makeSource = (token = "pat123.topsecret") =>
      Effect.gen(function* () {
        const { calls = Effect.dieMessage("not counted"), changes } = yield* AirtableClient.make({
          endpointUrl: server.url,
          baseId: "appX",
          apiKey: Redacted.make(token),
          changes: "webhook"
        })
        const { since } = changes ?? (yield* Effect.dieMessage("no changes"))
        return asking(since, calls)
      })
    /** What it shares with others is of its process. */
    const makeController = Effect.provide(makeSource(), Layer.fresh(unpaced))
    const webhooks = Effect.map(
      server.get("/v0/bases/appX/webhooks"),
      ({ body }) => (body as { webhooks: ReadonlyArray<{ id: string }> }).webhooks
    )
    return { ...folder, ...server, makeSource, makeController, controller: yield* makeController, webhooks }
  })

/** Polls: `changed` returns the tables that have changed, `cost` the number of calls. */
const asking = (since: ChangeFeed["since"], calls: Effect.Effect<{ readonly total: number }>) => {
  let position = Option.none<string>()
  const changed = Effect.suspend(() => since(position)).pipe(
    Effect.map((changes) => {
      position = Option.some(changes.position)
      return changes.changed === "everything" ? changes.changed : tables.filter(changes.changed)
    })
  )
  const cost = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      const before = (yield* calls).total
      yield* effect
      return (yield* calls).total - before
    })
  return { changed, cost }
}

describe("what has changed in a hosted base", () => {
  it.scoped("is requested with one call for all sources of a process that ask at the same time", () =>
    Effect.gen(function* () {
      const { controller, makeSource, requests, write } = yield* museum()
      yield* controller.changed
      const sources = yield* Effect.all([makeSource(), makeSource(), makeSource("pat9.another")])
      const ask = Effect.forEach(sources, ({ changed }) => changed, { concurrency: "unbounded" })
      /** How many calls it takes all of them, those of the third, which has another token, included. */
      const cost = Effect.gen(function* () {
        const before = yield* requests
        const answers = yield* ask
        const { payloads, schema, webhooks } = yield* requests
        return {
          answers,
          calls: payloads + schema + webhooks - before.payloads - before.schema - before.webhooks
        }
      })
      expect(yield* cost).toEqual({ answers: ["everything", "everything", "everything"], calls: 2 * 3 })
      expect(yield* cost).toEqual({ answers: [[], [], []], calls: 2 })
      yield* write("Rooms.csv", "Name\nAttic\n")
      expect(yield* cost).toEqual({ answers: [["Rooms"], ["Rooms"], ["Rooms"]], calls: 2 })
      yield* TestClock.adjust("1 hour")
      // Each token lists the webhooks again.
      expect(yield* cost).toEqual({ answers: [[], [], []], calls: 4 })
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped("is reported since the last time that the same source asked", () =>
    Effect.gen(function* () {
      const { makeSource, write } = yield* museum()
      const [one, other] = yield* Effect.all([makeSource(), makeSource()])
      const both = Effect.all([one.changed, other.changed], { concurrency: "unbounded" })
      yield* both
      yield* write("Rooms.csv", "Name\nAttic\n")
      expect(yield* one.changed).toEqual(["Rooms"])
      yield* write("Settings.csv", "key,value\ntitle,Night\n")
      expect(yield* both).toEqual([["Settings"], ["Rooms", "Settings"]])
      expect(yield* both).toEqual([[], []])
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped.each([
    ["webhooks deleted x1", 0],
    ["webhooks disabled x1", 1],
    ["payloads dropped x1", 0]
  ] as const)("is everything for each source after %s, whenever it asks", ([fault, hours]) => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const { faults, makeSource, webhooks, write } = yield* museum()
      const [one, other] = yield* Effect.all([makeSource(), makeSource()])
      const both = Effect.all([one.changed, other.changed], { concurrency: "unbounded" })
      yield* both
      yield* faults.add(fault)
      for (let hour = 0; hour < hours; hour++) {
        expect(yield* one.changed).toEqual([])
        yield* TestClock.adjust("1 hour")
      }
      expect(yield* one.changed).toBe("everything")
      yield* write("Rooms.csv", "Name\nAttic\n")
      expect(yield* both).toEqual([["Rooms"], "everything"])
      expect(yield* both).toEqual([[], ["Rooms"]])
      expect(log.filter((line) => line.startsWith("WARN"))).toHaveLength(1)
      expect(yield* webhooks).toHaveLength(1)
    }).pipe(Effect.provide(environment), withLog(log))
  })

  it.scoped("is read from one webhook, which is created once", () =>
    Effect.gen(function* () {
      const { controller, makeController, webhooks, write } = yield* museum()
      const { changed, cost } = controller
      expect(yield* changed).toBe("everything")
      expect(yield* webhooks).toHaveLength(1)
      expect(yield* cost(changed)).toBe(1)
      expect(yield* changed).toEqual([])
      yield* write("Rooms.csv", "Name\nAttic\n")
      expect(yield* changed).toEqual(["Rooms"])
      expect(yield* changed).toEqual([])
      const other = yield* makeController
      expect(yield* other.cost(other.changed)).toBe(3)
      yield* write("Settings.csv", "key,value\ntitle,Night\n")
      expect(yield* other.changed).toEqual(["Settings"])
      expect(yield* changed).toEqual(["Settings"])
      expect(yield* webhooks).toHaveLength(1)
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped("is reported for every table where the token may not read the schema, which is tried once", () =>
    Effect.gen(function* () {
      const { controller, write } = yield* museum({ faults: ["schema 403"] })
      const { changed, cost } = controller
      yield* changed
      yield* write("Rooms.csv", "Name\nAttic\n")
      expect(yield* cost(Effect.map(changed, (changed) => expect(changed).toEqual(tables)))).toBe(1)
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped("is reported for every table after one was added or removed", () =>
    Effect.gen(function* () {
      const { controller, write } = yield* museum()
      yield* controller.changed
      yield* write("Tours.csv", "Name\nEast\n")
      expect(yield* controller.changed).toEqual(tables)
      yield* write("Tours.csv", "Name\nWest\n")
      expect(yield* controller.changed).toEqual([])
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped.each([
    ["webhooks deleted x1", "is gone"],
    ["payloads invalid-filters x1", "INVALID_FILTERS"],
    ["payloads invalid-hook x1", "INVALID_HOOK"],
    ["payloads internal-error x1", "INTERNAL_ERROR"],
    ["payloads unknown-error x1", "SOMETHING_NEW"],
    ["payloads dropped x1", "no longer lists"]
  ] as const)("is everything once after %s, and then only what has changed", ([fault, words]) => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const { controller, faults, webhooks, write } = yield* museum()
      const { changed } = controller
      yield* changed
      yield* faults.add(fault)
      yield* write("Rooms.csv", "Name\nAttic\n")
      expect(yield* changed).toBe("everything")
      const warnings = log.filter((line) => line.startsWith("WARN"))
      expect(warnings).toHaveLength(1)
      expect(warnings[0]).toContain(words)
      expect(yield* changed).toEqual([])
      yield* write("Rooms.csv", "Name\nCellar\n")
      expect(yield* changed).toEqual(["Rooms"])
      expect(yield* webhooks).toHaveLength(1)
    }).pipe(Effect.provide(environment), withLog(log))
  })

  it.scoped("is everything at most once in ten minutes, while the webhook keeps failing", () =>
    Effect.gen(function* () {
      const { controller, faults, webhooks } = yield* museum()
      const { changed, cost } = controller
      yield* changed
      yield* faults.add("payloads endless")
      expect(yield* changed).toBe("everything")
      const again = yield* Effect.either(changed)
      expect(Either.isLeft(again) && again.left.message).toContain("lists more than")
      expect(yield* cost(Effect.either(changed))).toBeLessThan(12)
      yield* TestClock.adjust("10 minutes")
      yield* faults.clear
      yield* Effect.either(changed)
      expect(yield* changed).toEqual([])
      expect(yield* webhooks).toHaveLength(1)
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped("is read from another webhook within an hour after the first was disabled", () =>
    Effect.gen(function* () {
      const { controller, faults, webhooks, write } = yield* museum()
      const { changed } = controller
      yield* changed
      yield* faults.add("webhooks disabled x1")
      yield* changed
      yield* TestClock.adjust("1 hour")
      expect(yield* changed).toBe("everything")
      expect(yield* webhooks).toHaveLength(1)
      yield* TestClock.adjust("8 days")
      expect(yield* changed).toBe("everything")
      yield* write("Rooms.csv", "Name\nAttic\n")
      expect(yield* changed).toEqual(["Rooms"])
      expect(yield* webhooks).toHaveLength(1)
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped("needs a creator's token to create the webhook, and explains what to do without one", () =>
    Effect.gen(function* () {
      const { controller, faults, makeController } = yield* museum()
      yield* faults.add("webhooks no-creator")
      const refused = yield* Effect.either(controller.changed)
      expect(Either.isLeft(refused) && refused.left).toMatchObject({
        isTransient: false,
        detail: expect.stringContaining('Run "vitrine watch create --base appX" once with a token that may')
      })
      yield* faults.clear
      yield* controller.changed
      yield* faults.add("webhooks no-creator")
      const other = yield* makeController
      expect(yield* other.changed).toBe("everything")
      expect(yield* other.changed).toEqual([])
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped("needs a creator's token again where the webhook reports an error, and names the webhook", () =>
    Effect.gen(function* () {
      const { controller, faults, webhooks } = yield* museum()
      const { changed } = controller
      yield* changed
      const [webhook] = yield* webhooks
      yield* faults.add("webhooks no-creator")
      yield* faults.add("payloads invalid-hook x1")
      const refused = yield* Effect.either(changed)
      expect(Either.isLeft(refused) && refused.left).toMatchObject({
        detail: expect.stringContaining(
          `Run "vitrine watch remove ${webhook?.id} --base appX" and then "vitrine watch create --base appX"`
        )
      })
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped("cannot be read by a token without the scope for it", () =>
    Effect.gen(function* () {
      const { controller } = yield* museum({ faults: ["webhooks 403"] })
      const refused = yield* Effect.either(controller.changed)
      expect(Either.isLeft(refused) && refused.left.message).toContain('it needs the scope "webhook:manage"')
      expect(Either.isLeft(refused) && refused.left.message).not.toContain("topsecret")
    }).pipe(Effect.provide(environment), withLog([]))
  )
  it.scoped(
    "fails where the list of webhooks never ends, and is read from a list of changes of any length",
    () =>
      Effect.gen(function* () {
        const webhook = {
          id: "ach1",
          cursorForNextPayload: 2,
          specification: { options: { filters: { dataTypes: ["tableData"] } } }
        }
        let webhooks = 101
        let payloads = 0
        const server = yield* ScriptedServer.make((response, request) => {
          const answer = request.url.includes("/payloads")
            ? { payloads: Array.from({ length: payloads }, () => ({})), cursor: 2 + payloads }
            : { webhooks: Array.from({ length: webhooks }, () => webhook) }
          ScriptedServer.json(200, answer)(response, request)
        })
        const { changes } = yield* AirtableClient.make({
          endpointUrl: server.url,
          baseId: "appX",
          apiKey: Redacted.make("pat123.topsecret"),
          changes: "webhook"
        })
        const { since } = changes ?? (yield* Effect.dieMessage("no changes"))
        expect((yield* Effect.flip(since(Option.none()))).message).toContain("expected a list of webhooks")
        webhooks = 1
        const { position } = yield* since(Option.none())
        payloads = 200_000
        expect(yield* since(Option.some(position))).toMatchObject({ position: "ach1 200002" })
      }).pipe(Effect.provide(environment), withLog([]))
  )
})
