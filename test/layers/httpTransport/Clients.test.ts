import * as Headers from "@effect/platform/Headers"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import { clientOf, maxGroups } from "../../../src/layers/httpTransport/Clients.ts"
import * as HttpTransport from "../../../src/layers/httpTransport/HttpTransport.ts"
import * as CommandBusMemory from "../../../src/layers/memory/CommandBusMemory.ts"
import { ControllerState, type Row } from "../../../src/services/ControllerState.ts"
import { maxConsumers } from "../../../src/services/VersionStore.ts"
import * as eventEngine from "../../support/eventEngine.ts"
import { withLog } from "../../support/logged.ts"
import { format } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"
import { eventually } from "../../support/waiting.ts"

const page = "http://127.0.0.1:8720"

/** Opens event streams whose clients say this of themselves. */
const open = (count: number, headers: Record<string, string>) =>
  Effect.replicateEffect(
    Effect.flatMap(transport.connect, ({ received, send }) => {
      send(format({ target: "/events", headers }))
      return received.until((text) => text.includes("retry: 2000\n\n"))
    }),
    count
  )

const rows = Effect.flatMap(ControllerState, ({ status }) => status).pipe(
  Effect.map(({ sections }) => sections.flatMap(({ rows }) => rows))
)

const listed = (rows: ReadonlyArray<Row>) =>
  rows.flatMap((row) => (row.type === "list" && row.label === "Streams by client" ? row.items : []))

const warnings = (rows: ReadonlyArray<Row>) =>
  rows.flatMap((row) => (row.type === "text" && row.tone === "warn" ? [row.text] : []))

describe("the status of a transport", () => {
  it.scoped("lists the clients of event streams, and who has most of them at the limit", () =>
    Effect.gen(function* () {
      expect(listed(yield* rows)).toEqual([])
      yield* open(1, {})
      yield* open(1, { Origin: "http://a.example", "User-Agent": "curl/8.0" })
      yield* open(3, { Origin: page, "User-Agent": "Chromium" })
      expect(listed(yield* rows)).toEqual([
        { type: "kv", label: page, value: expect.stringMatching(/^3 streams for up to \d+ s, Chromium$/) },
        { type: "kv", label: "no origin", value: expect.stringMatching(/^1 stream for .*, no user agent$/) },
        { type: "kv", label: "http://a.example", value: expect.stringMatching(/^1 stream .*, curl\/8.0$/) }
      ])
      expect(warnings(yield* rows)).toEqual([])
      yield* open(1, { Origin: page, "User-Agent": "another tab" })
      expect(warnings(yield* rows)).toEqual([
        `Pages of ${page} use 4 of 6 event streams. If it is not your page, set "allowedOrigins" to refuse it.`
      ])
    }).pipe(Effect.provide(transport.layer({ maxClients: 8 })))
  )

  it.scoped("counts all pages of an origin, for any number of user agents", () =>
    Effect.gen(function* () {
      for (let number = 1; number <= maxGroups + 2; number++) {
        yield* open(1, { Origin: page, "User-Agent": `screen ${number}` })
      }
      yield* open(maxGroups + 1, {})
      expect(warnings(yield* rows)).toEqual([
        `Pages of ${page} use 12 of 23 event streams. If it is not your page, set "allowedOrigins" to refuse it.`
      ])
    }).pipe(Effect.provide(transport.layer({ maxClients: 24 })))
  )

  it.scoped("shows why no events come from the bus, and since when", () => {
    const { endFeeds, layer } = eventEngine.make().instance()
    return Effect.gen(function* () {
      const busRows = Effect.map(rows, (rows) =>
        rows.filter((row) => row.type === "kv" && row.label === "Event bus")
      )
      expect(yield* busRows).toEqual([])
      yield* TestClock.adjust("1 minute")
      endFeeds("fails")
      yield* eventually(Effect.map(busRows, (rows) => rows.length > 0))
      expect(yield* busRows).toEqual([
        {
          type: "kv",
          label: "Event bus",
          value:
            "no events since 1970-01-01T00:01:00.000Z: The event bus could not deliver events: no engine",
          tone: "warn"
        }
      ])
      // It may not sleep yet when the problem shows.
      const recovered = Effect.map(busRows, (rows) => rows.length === 0)
      yield* eventually(Effect.zipRight(TestClock.adjust("1 second"), recovered))
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          HttpTransport.layer({ port: 0 }),
          Layer.merge(layer, Layer.merge(CommandBusMemory.layer, ControllerStateMemory.layer("persistent")))
        )
      ),
      withLog([])
    )
  })

  it.scoped("is limited, and contains no control characters", () =>
    Effect.gen(function* () {
      for (let number = 0; number < maxGroups + 5; number++) {
        yield* open(1, {
          Origin: `http://h${number}.example`,
          "User-Agent": `\x9b31m\u202e${"x".repeat(10_000)}`
        })
      }
      const items = listed(yield* rows)
      expect(items).toHaveLength(maxGroups + 1)
      expect(items.at(-1)).toEqual({ type: "text", text: "and 5 streams of other clients" })
      const text = JSON.stringify(items)
      expect(text.length).toBeLessThan(maxGroups * 300)
      expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }).pipe(Effect.provide(transport.layer()))
  )

  it.scoped("shows the printable part of the name of the last event", () =>
    Effect.gen(function* () {
      const { received } = yield* transport.openEvents
      yield* transport.publish(`content:\u001b]0;x\u0007\u202e${"y".repeat(10_000)}`, null)
      yield* received.until((text) => text.includes("null"))
      const last = (yield* rows).find((row) => row.type === "kv" && row.label === "Last event")
      expect(last).toMatchObject({
        value: expect.stringMatching(/^content: ]0;x \ufffdy{80,90}… at /)
      })
    }).pipe(Effect.provide(transport.layer()))
  )
})

const openAt = (target: string) =>
  Effect.tap(transport.connect, ({ received, send }) => {
    send(format({ target }))
    return received.until((text) => text.includes("retry: 2000\n\n"))
  })

const consumers = Effect.map(
  Effect.flatMap(ControllerState, ({ state }) => state),
  ({ plugins }) => Object(plugins["http-transport"]).consumers
)

describe("a consumer with its own event stream", () => {
  it.scoped("is in the state, and is kept there when its last stream has ended", () =>
    Effect.gen(function* () {
      const { reset } = yield* openAt("/events?consumer=left%20wall")
      const other = yield* openAt("/events?a&consumer=left%20wall")
      yield* openAt("/events?consumer=..%2Fmanifest")
      yield* openAt("/events")
      const since = expect.stringMatching(/^\d{4}-.*Z$/)
      expect(yield* consumers).toEqual([{ id: "left wall", since }])
      reset()
      yield* transport.clientsBecome(3)
      expect(yield* consumers).toEqual([{ id: "left wall", since }])
      other.reset()
      yield* transport.clientsBecome(2)
      expect(yield* consumers).toEqual([{ id: "left wall", since, endedAt: since }])
      yield* openAt("/events?consumer=left%20wall")
      expect(yield* consumers).toEqual([{ id: "left wall", since }])
    }).pipe(Effect.provide(transport.layer({ maxClients: 8 })))
  )

  it.scoped("is one of at most 256, of which those that ended last are kept", () =>
    Effect.gen(function* () {
      yield* openAt("/events?consumer=left")
      for (let number = 0; number < maxConsumers + 4; number++) {
        const { reset } = yield* openAt(`/events?consumer=page-${number}`)
        reset()
        yield* transport.clientsBecome(1)
      }
      const known: ReadonlyArray<{ readonly id: string }> = yield* consumers
      expect(known).toHaveLength(maxConsumers)
      expect(known.slice(0, 2).map(({ id }) => id)).toEqual(["left", `page-${maxConsumers + 3}`])
    }).pipe(Effect.provide(transport.layer()))
  )

  it.scopedLive("has the same times at each look, however two clocks round", () =>
    Effect.gen(function* () {
      yield* openAt("/events?consumer=left")
      yield* transport.clientsBecome(1)
      const looks = yield* Effect.replicateEffect(consumers, 300)
      expect(new Set(looks.map((look) => JSON.stringify(look))).size).toBe(1)
    }).pipe(Effect.provide(transport.layer()))
  )

  it("has a plain file name as its id, and any other is ignored", () => {
    const consumerIn = (originalUrl: string) => clientOf({ headers: Headers.empty, originalUrl }).consumer
    expect(consumerIn("/events?token=a&consumer=left")).toBe("left")
    for (const target of [
      "/events",
      "/events?",
      "/events?consumer",
      "/events?consumer=a/b",
      "/events?consumer=%00"
    ]) {
      expect(consumerIn(target)).toBeUndefined()
    }
  })
})
