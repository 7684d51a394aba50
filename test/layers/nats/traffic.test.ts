import { describe, expect, it } from "@effect/vitest"
import { makeTraffic, maxBytes, maxCommands, maxEvents } from "../../../src/layers/nats/traffic.ts"

describe("what is on its way to NATS", () => {
  it("is bounded in number", () => {
    const traffic = makeTraffic()
    const ends = Array.from({ length: maxEvents }, () => traffic.addEvent(1))
    expect(ends).not.toContain(undefined)
    expect(traffic.addEvent(1)).toBeUndefined()
    ends[0]?.()
    expect(traffic.addEvent(1)).toBeDefined()
    expect(traffic.now().waiting.events).toBe(maxEvents)
  })

  it("is bounded in bytes, and one event may always wait", () => {
    const traffic = makeTraffic()
    const end = traffic.addEvent(2 * maxBytes)
    expect(traffic.addEvent(1)).toBeUndefined()
    end?.()
    expect(traffic.addEvent(maxBytes - 1)).toBeDefined()
    expect(traffic.addEvent(1)).toBeDefined()
    expect(traffic.addEvent(1)).toBeUndefined()
  })

  it("is bounded in commands", () => {
    const traffic = makeTraffic()
    const ends = Array.from({ length: maxCommands }, traffic.addCommand)
    expect(traffic.addCommand()).toBeUndefined()
    ends[0]?.()
    expect(traffic.addCommand()).toBeDefined()
  })

  it("counts what could not be published, and knows the last", () => {
    const traffic = makeTraffic()
    traffic.failed(new Date(1), "the first")
    traffic.failed(new Date(2), "the last")
    expect(traffic.now()).toMatchObject({
      failures: 2,
      lastFailure: { at: "1970-01-01T00:00:00.002Z", reason: "the last" }
    })
  })
})
