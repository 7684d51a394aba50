import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { maxConsumers } from "../../../src/internal/maxConsumers.ts"
import { consumerIn, makeConsumers } from "../../../src/layers/httpTransport/consumers.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { format } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"

const open = (target: string) =>
  Effect.tap(transport.connect, ({ received, send }) => {
    send(format({ target }))
    return received.until((text) => text.includes("retry: 2000\n\n"))
  })

const consumers = Effect.map(
  Effect.flatMap(ControllerState, ({ state }) => state),
  ({ plugins }) => Object(plugins["http-transport"]).consumers
)

describe("a consumer with an event stream of its own", () => {
  it.scoped("is in the state, and stays there when its last stream has ended", () =>
    Effect.gen(function* () {
      const { reset } = yield* open("/events?consumer=left%20wall")
      const other = yield* open("/events?a&consumer=left%20wall")
      yield* open("/events?consumer=..%2Fmanifest")
      yield* open("/events")
      const since = expect.stringMatching(/^\d{4}-.*Z$/)
      expect(yield* consumers).toEqual([{ id: "left wall", since }])
      reset()
      yield* transport.clientsBecome(3)
      expect(yield* consumers).toEqual([{ id: "left wall", since }])
      other.reset()
      yield* transport.clientsBecome(2)
      expect(yield* consumers).toEqual([{ id: "left wall", since, endedAt: since }])
      yield* open("/events?consumer=left%20wall")
      expect(yield* consumers).toEqual([{ id: "left wall", since }])
    }).pipe(Effect.provide(transport.layer({ maxClients: 8 })))
  )

  it("is one of 256: of those that are over, the ones that ended last are kept", () => {
    const { changed, list } = makeConsumers()
    for (let number = 0; number < 400; number++) {
      changed([
        { consumer: "left", since: 0 },
        { consumer: `page-${number}`, since: 0 }
      ])
    }
    const known = list(0)
    expect(known).toHaveLength(maxConsumers)
    expect(known.slice(0, 2).map(({ id }) => id)).toEqual(["left", "page-399"])
  })

  it("is named by one plain file name; anything else is ignored", () => {
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
