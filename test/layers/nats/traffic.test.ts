import { describe, expect, it } from "@effect/vitest"
import { makeTraffic, maxBytes, maxCommands, maxEvents } from "../../../src/layers/nats/traffic.ts"

describe("messages that wait for NATS", () => {
  it("are limited in number", () => {
    const traffic = makeTraffic()
    const ends = Array.from({ length: maxEvents }, () => traffic.addEvent(1))
    expect(ends).not.toContain(undefined)
    expect(traffic.addEvent(1)).toBeUndefined()
    ends[0]?.()
    expect(traffic.addEvent(1)).toBeDefined()
    expect(traffic.now().waiting.events).toBe(maxEvents)
  })

  it("are limited in bytes, except for a single event", () => {
    const traffic = makeTraffic()
    const end = traffic.addEvent(2 * maxBytes)
    expect(traffic.addEvent(1)).toBeUndefined()
    end?.()
    expect(traffic.addEvent(maxBytes - 1)).toBeDefined()
    expect(traffic.addEvent(1)).toBeDefined()
    expect(traffic.addEvent(1)).toBeUndefined()
  })

  it("are limited in commands", () => {
    const traffic = makeTraffic()
    const ends = Array.from({ length: maxCommands }, traffic.addCommand)
    expect(traffic.addCommand()).toBeUndefined()
    ends[0]?.()
    expect(traffic.addCommand()).toBeDefined()
  })

  it("are counted if they could not be published, with the last reason", () => {
    const traffic = makeTraffic()
    traffic.failed(new Date(1), "the first")
    traffic.failed(new Date(2), "the last")
    expect(traffic.now()).toMatchObject({
      failures: 2,
      lastFailure: { at: "1970-01-01T00:00:00.002Z", reason: "the last" }
    })
  })
})
