import { afterEach, beforeEach, expect, it, vi } from "@effect/vitest"
import { makeAcks, renewMs } from "../../../src/layers/client/acks.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] })
})
afterEach(() => {
  vi.useRealTimers()
})

it("renews an ack at least as often as it says, however rarely a hidden page may look", async () => {
  const start = Date.now()
  const times: Array<number> = []
  const acknowledge = makeAcks(async () => {
    times.push(Date.now() - start)
  })
  // A browser wakes a hidden page once a minute, and not to the millisecond.
  for (const time of [0, 5000, 59_990, 65_000, 119_990]) {
    vi.setSystemTime(start + time)
    await acknowledge(() => ({ versionId: "20261121T093000Z", problem: undefined }))
  }
  expect(renewMs).toBe(60_000)
  expect(times).toEqual([0, 59_990, 119_990])
})
