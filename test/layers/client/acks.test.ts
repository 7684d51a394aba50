import { afterEach, beforeEach, describe, expect, it, vi } from "@effect/vitest"
import { type Ack, makeAcks, renewMs } from "../../../src/layers/client/acks.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] })
})
afterEach(() => {
  vi.useRealTimers()
})

const shown: Ack = { versionId: "20261121T093000Z", problem: undefined, visible: true, drawing: true }
const goodbye = { ...shown, closing: true }

/** Acks of what `now` says, and all that were sent. */
const makeSent = (answer: () => Promise<void> = async () => {}) => {
  const sent: Array<Ack> = []
  const posted: Array<unknown> = []
  const screen: { now: Ack | undefined } = { now: shown }
  const acks = makeAcks(
    () => screen.now,
    (ack) => {
      sent.push(ack)
      return answer()
    },
    (error) => posted.push(error)
  )
  return { acks, posted, screen, sent }
}

describe("an ack", () => {
  it("is renewed as often as it announces, although timers of hidden pages are slow", async () => {
    const start = Date.now()
    const times: Array<number> = []
    const { acks } = makeSent(async () => {
      times.push(Date.now() - start)
    })
    // A browser wakes a hidden page once a minute, and not to the millisecond.
    for (const time of [0, 5000, 59_990, 65_000, 119_990]) {
      vi.setSystemTime(start + time)
      await acks.send()
    }
    expect(renewMs).toBe(60_000)
    expect(times).toEqual([0, 59_990, 119_990])
  })

  it("is sent at once when its content changes or a renewal is requested", async () => {
    const { acks, screen, sent } = makeSent()
    await acks.send()
    await acks.send()
    screen.now = { ...shown, visible: false, drawing: false }
    await acks.send()
    await acks.renew()
    expect(sent).toEqual([shown, screen.now, screen.now])
  })

  it("that was refused is not repeated at once, and its reason is kept until one is accepted", async () => {
    const refused = new Error("HTTP 500")
    let isRefused = true
    const { acks, posted, sent } = makeSent(() => (isRefused ? Promise.reject(refused) : Promise.resolve()))
    await acks.send()
    await acks.send()
    expect(sent).toHaveLength(1)
    isRefused = false
    vi.setSystemTime(Date.now() + 15_000)
    await acks.send()
    expect(posted).toEqual([refused, undefined])
  })
})

describe("a page that is left", () => {
  it("reports it once, also during an ack, and sends no ack until it is back", async () => {
    const answers: Array<() => void> = []
    const { acks, screen, sent } = makeSent(() => new Promise((resolve) => answers.push(resolve)))
    const sending = acks.send()
    acks.close()
    acks.close()
    expect(sent).toEqual([shown, goodbye])
    for (const answer of answers) answer()
    await sending
    screen.now = { ...shown, visible: false, drawing: false }
    await acks.send()
    await acks.renew()
    expect(sent).toHaveLength(2)

    screen.now = shown
    acks.open()
    acks.send()
    expect(sent).toEqual([shown, goodbye, shown])
  })

  it("reports nothing if it has shown nothing, or if there is no controller", async () => {
    const { acks, screen, sent } = makeSent(() => Promise.reject(new Error("no route")))
    screen.now = undefined
    await acks.send()
    acks.close()
    expect(sent).toEqual([])
    acks.open()
    screen.now = shown
    await acks.renew()
    acks.close()
    expect(sent).toEqual([shown, goodbye])
  })
})
