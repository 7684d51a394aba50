import { afterEach, beforeEach, describe, expect, it, vi } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { current, validAt } from "../../../../src/layers/client/helpers/current.ts"

const period = { from: "begin", until: "end" } as const

interface Row {
  readonly id: string
  readonly begin?: string
  readonly end?: string
}

const at = (text: string) => new Date(text).getTime()

const idsAt = (rows: ReadonlyArray<Row>, text: string) => validAt(rows, period, at(text)).map(({ id }) => id)

describe("a period", () => {
  it("of days lasts from the begin of the first to the end of the last day, in the local zone", () => {
    const rows = [{ id: "a", begin: "2026-11-21", end: "2026-11-22" }]
    const times = [
      "2026-11-20T23:59:59.999",
      "2026-11-21T00:00",
      "2026-11-22T23:59:59.999",
      "2026-11-23T00:00"
    ]
    expect(times.map((time) => idsAt(rows, time).length)).toEqual([0, 1, 1, 0])
  })

  it("of times lasts from the first to the second, in any zone", () => {
    const rows = [{ id: "a", begin: "2026-11-21T10:00:00+02:00", end: "2026-11-21T09:00Z" }]
    const times = ["2026-11-21T07:59:59Z", "2026-11-21T08:00Z", "2026-11-21T08:59:59Z", "2026-11-21T09:00Z"]
    expect(times.map((time) => idsAt(rows, time).length)).toEqual([0, 1, 1, 0])
  })

  it("may have blanks around a date, and hours of one digit", () => {
    const ends = ["2026-11-20 9:00", "2026-11-20T9:00", " 2026-11-20T09:00 ", "2026-11-20T9:00:00"]
    const rows = [...ends, " 2026-11-20", "2026-11-20 "].map((end, index) => ({ id: `${index}`, end }))
    const times = ["2026-11-20T08:59", "2026-11-20T09:00", "2026-11-20T23:59", "2026-11-21T00:00"]
    expect(times.map((time) => idsAt(rows, time).join(""))).toEqual(["012345", "45", "45", ""])
  })

  it("has no limit where a date is empty, invalid, or of a day that does not exist", () => {
    const rows = [
      { id: "a" },
      { id: "b", begin: "", end: "soon" },
      { id: "c", begin: "1862", end: "20.11.2026" },
      { id: "d", begin: "2030-01-01" },
      { id: "e", end: "2020-01-01 12:00" },
      { id: "f", end: "2026-02-30" },
      { id: "g", end: "2026-11-31 12:00" }
    ]
    expect(idsAt(rows, "2026-12-21")).toEqual(["a", "b", "c", "f", "g"])
  })

  it("of one day lasts until the next, also when the clocks change", () => {
    const days = FastCheck.date({
      min: new Date("1990-01-01"),
      max: new Date("2040-01-01"),
      noInvalidDate: true
    }).map((date) => date.toISOString().slice(0, 10))
    FastCheck.assert(
      FastCheck.property(days, (day) => {
        const [year = 0, month = 1, date = 1] = day.split("-").map(Number)
        const rows = [{ id: "a", begin: day, end: day }]
        const isValid = (time: Date) => validAt(rows, period, time.getTime()).length === 1
        const begin = new Date(year, month - 1, date)
        const end = new Date(year, month - 1, date + 1)
        expect([-1, 0].map((ms) => isValid(new Date(begin.getTime() + ms)))).toEqual([false, true])
        expect([-1, 0].map((ms) => isValid(new Date(end.getTime() + ms)))).toEqual([true, false])
      })
    )
  })
})

describe("current()", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: at("2026-11-21T12:00:00") })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const watch = (rows: ReadonlyArray<Row>) => {
    const heard: Array<string> = []
    const stop = current(rows, period, (valid) => heard.push(valid.map(({ id }) => id).join("")))
    return { heard, stop }
  }

  it("calls the listener at once and at each change, until it is stopped", () => {
    const { heard, stop } = watch([
      { id: "a", end: "2026-11-21T12:00:30" },
      { id: "b", begin: "2026-11-21T12:10:00", end: "2026-11-21" },
      { id: "c" }
    ])
    expect(heard).toEqual(["ac"])
    vi.advanceTimersByTime(29_999)
    expect(heard).toEqual(["ac"])
    vi.advanceTimersByTime(1)
    expect(heard).toEqual(["ac", "c"])
    vi.advanceTimersByTime(570_000)
    expect(heard).toEqual(["ac", "c", "bc"])
    stop()
    vi.advanceTimersByTime(86_400_000)
    expect(heard).toEqual(["ac", "c", "bc"])
    expect(vi.getTimerCount()).toBe(0)
  })

  it("calls the listener once for an empty table", () => {
    const { heard } = watch([])
    vi.advanceTimersByTime(600_000)
    expect(heard).toEqual([""])
  })

  it("notices within a minute that the machine slept or its clock was set, and works over years", () => {
    const { heard } = watch([
      { id: "a", begin: "2031-01-01" },
      { id: "b", end: "2026-12-31" }
    ])
    for (const [now, valid] of [
      ["2031-01-01T08:00", "a"],
      ["2026-11-21T08:00", "b"]
    ] as const) {
      vi.setSystemTime(at(now))
      vi.advanceTimersByTime(60_000)
      expect(heard.at(-1)).toBe(valid)
    }
    expect(heard).toEqual(["b", "a", "b"])
  })
})
