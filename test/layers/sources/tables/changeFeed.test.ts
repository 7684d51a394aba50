/**
 * The change feed of a hosted base, with the local server of these tests.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as TestClock from "effect/TestClock"
import * as httpClient from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as AirtableClient from "../../../../src/layers/sources/tables/AirtableClient.ts"
import { RequestPacing } from "../../../../src/services/RequestPacing.ts"
import { withLog } from "../../../support/logged.ts"
import { type Options, start } from "../../../support/tableServer.ts"
import { temporaryFolder } from "../../../support/temporaryFolder.ts"

const unpaced = Layer.sync(RequestPacing, () => ({
  pacer: () => Effect.succeed({ take: Effect.void, hold: () => Effect.void })
}))

const environment = Layer.mergeAll(NodeContext.layer, httpClient.layer, unpaced)

/** A base of tables and a controller that asks whether anything has changed in it. */
const museum = (options: Options = {}) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder({
      "Objects.csv": "Title,Year\nAstrolabe,1520\n",
      "Rooms.csv": "Name\nHall\n"
    })
    const server = yield* start(folder.directory, { rateLimit: false, ...options })
    const { calls = Effect.dieMessage("not counted"), changes } = yield* AirtableClient.make({
      endpointUrl: server.url,
      baseId: "appX",
      apiKey: Redacted.make("pat123.topsecret"),
      changes: "webhook"
    })
    const { end, since } = changes ?? (yield* Effect.dieMessage("no changes"))
    const position = yield* Ref.make(Option.none<string>())
    const changed = Effect.flatMap(Ref.get(position), since).pipe(
      Effect.tap((found) => Ref.set(position, Option.some(found.position))),
      Effect.map(({ changed }) => changed)
    )
    const cost = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.gen(function* () {
        const before = (yield* calls).total
        yield* effect
        return (yield* calls).total - before
      })
    const webhooks = Effect.map(
      server.get("/v0/bases/appX/webhooks"),
      ({ body }) => (body as { webhooks: ReadonlyArray<{ id: string }> }).webhooks
    )
    return { ...folder, ...server, changed, cost, end, position, since, webhooks }
  })

describe("what has changed in a hosted base", () => {
  it.scoped("is everything at first, and then one call says whether anything has changed", () =>
    Effect.gen(function* () {
      const { changed, cost, webhooks, write } = yield* museum()
      expect(yield* cost(changed)).toBe(1)
      expect(yield* webhooks).toHaveLength(1)
      expect(yield* changed).toBe("nothing")
      yield* write("Rooms.csv", "Name\nAttic\n")
      expect(yield* cost(Effect.map(changed, (changed) => expect(changed).toBe("everything")))).toBe(1)
      expect(yield* changed).toBe("nothing")
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped("is reported from every position, at every call", () =>
    Effect.gen(function* () {
      const { changed, position, since, write } = yield* museum()
      yield* changed
      const before = yield* Ref.get(position)
      yield* write("Rooms.csv", "Name\nAttic\n")
      expect(yield* changed).toBe("everything")
      expect((yield* since(before)).changed).toBe("everything")
      expect((yield* since(yield* Ref.get(position))).changed).toBe("nothing")
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped.each([
    ["webhooks deleted x1", "is gone"],
    ["payloads invalid-filters x1", "INVALID_FILTERS"],
    ["payloads invalid-hook x1", "INVALID_HOOK"],
    ["payloads internal-error x1", "INTERNAL_ERROR"],
    ["payloads unknown-error x1", "SOMETHING_NEW"],
    ["payloads dropped x1", "no longer lists"]
  ] as const)(
    "is everything once after %s, with a new webhook in the place of the old one",
    ([fault, words]) => {
      const log: Array<string> = []
      return Effect.gen(function* () {
        const { changed, faults, webhooks, write } = yield* museum()
        yield* changed
        yield* faults.add(fault)
        yield* write("Rooms.csv", "Name\nAttic\n")
        expect(yield* changed).toBe("everything")
        const warnings = log.filter((line) => line.startsWith("WARN"))
        expect(warnings).toHaveLength(1)
        expect(warnings[0]).toContain(words)
        expect(yield* changed).toBe("nothing")
        yield* write("Rooms.csv", "Name\nCellar\n")
        expect(yield* changed).toBe("everything")
        expect(yield* webhooks).toHaveLength(1)
      }).pipe(Effect.provide(environment), withLog(log))
    }
  )

  it.scoped("is read in a bounded number of calls from a list that never ends", () =>
    Effect.gen(function* () {
      const { changed, cost, faults } = yield* museum({ faults: ["payloads endless"] })
      yield* changed
      expect(yield* cost(changed)).toBeLessThan(12)
      yield* faults.clear
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped("is known without a webhook of the run before, which is ended", () =>
    Effect.gen(function* () {
      const { changed, end, position, webhooks } = yield* museum()
      yield* changed
      yield* end(Option.getOrThrow(yield* Ref.get(position)))
      expect(yield* webhooks).toEqual([])
    }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped.each([
    ["webhooks no-creator", "the role of a creator"],
    ["webhooks 403", 'the key needs the scope "webhook:manage"']
  ] as const)(
    "is unknown to a token that may not make a webhook (%s), and the error says why",
    ([fault, words]) =>
      Effect.gen(function* () {
        const { changed } = yield* museum({ faults: [fault] })
        const refused = yield* Effect.flip(changed)
        expect(refused.isTransient).toBe(false)
        expect(refused.message).toContain(words)
        expect(refused.message).not.toContain("topsecret")
      }).pipe(Effect.provide(environment), withLog([]))
  )

  it.scoped("makes no further webhook for ten minutes if the answer of the server was lost", () =>
    Effect.gen(function* () {
      const { changed, faults, webhooks } = yield* museum({ faults: ["webhooks cut"] })
      expect((yield* Effect.flip(changed)).isTransient).toBe(true)
      yield* faults.clear
      const made = yield* webhooks
      yield* Effect.flip(changed)
      expect(yield* webhooks).toEqual(made)
      yield* TestClock.adjust("10 minutes")
      expect(yield* changed).toBe("everything")
      expect(yield* webhooks).toHaveLength(made.length + 1)
    }).pipe(Effect.provide(environment), withLog([]))
  )
})
