import { afterEach, beforeEach, describe, expect, it, vi } from "@effect/vitest"
import { type Ack, makeAcks, renewMs } from "../../../src/layers/client/acks.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] })
})
afterEach(() => {
  vi.useRealTimers()
})

const shown: Ack = {
  versionId: "20261121T093000Z",
  problem: undefined,
  done: [],
  visible: true,
  drawing: true
}
const hidden: Ack = { ...shown, visible: false, drawing: false }
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
    const { acks, screen } = makeSent(async () => {
      times.push(Date.now() - start)
    })
    const sendAt = async (...given: ReadonlyArray<number>) => {
      times.length = 0
      for (const time of given) {
        vi.setSystemTime(start + time)
        await acks.send()
      }
      return times
    }
    expect(renewMs(shown)).toBe(20_000)
    expect(await sendAt(0, 5000, 10_000, 14_990, 19_990, 25_000, 35_000)).toEqual([0, 19_990, 35_000])
    screen.now = hidden
    // A browser wakes a hidden page once a minute, and not to the millisecond.
    expect(renewMs(hidden)).toBe(60_000)
    expect(await sendAt(40_000, 60_000, 99_990, 105_000, 159_990)).toEqual([40_000, 99_990, 159_990])
  })

  it("is sent at once when its content changes or a renewal is requested", async () => {
    const { acks, screen, sent } = makeSent()
    await acks.send()
    await acks.send()
    screen.now = hidden
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
    screen.now = hidden
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
