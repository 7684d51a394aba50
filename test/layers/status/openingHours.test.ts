import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { vi } from "vitest"
import { decodeOptions, issuesOf } from "../../../src/internal/Options.ts"
import { HoursOptions, isOpen, openAt } from "../../../src/layers/status/openingHours.ts"
import type { OpeningHours } from "../../../src/services/StatusSnapshot.ts"

const berlin = (hours: Omit<OpeningHours, "zone">): OpeningHours => ({ zone: "Europe/Berlin", ...hours })

/** The times of a day, to the minute, at which it opens and closes: `["09:50", "18:10"]`. In UTC. */
const changesOn = (hours: OpeningHours, date: string): ReadonlyArray<string> => {
  const midnight = Date.parse(`${date}T00:00:00Z`)
  const states = Array.from({ length: 24 * 60 + 1 }, (_, minute) =>
    isOpen(hours, midnight + (minute - 1) * 60_000)
  )
  return states.flatMap((state, minute) =>
    minute === 0 || state === states[minute - 1]
      ? []
      : [new Date(midnight + (minute - 1) * 60_000).toISOString().slice(11, 16)]
  )
}

describe("opening hours", () => {
  it("an interval opens ten minutes earlier and closes ten minutes later", () => {
    assert.deepStrictEqual(changesOn(berlin({ mon: "10:00-18:00" }), "2026-11-23"), ["08:50", "17:10"])
  })

  it("a day that is not named is closed", () => {
    assert.deepStrictEqual(changesOn(berlin({ mon: "10:00-18:00" }), "2026-11-24"), [])
  })

  it("a day has several intervals", () => {
    assert.deepStrictEqual(changesOn(berlin({ thu: ["10:00-13:00", "14:00-20:00"] }), "2026-11-26"), [
      "08:50",
      "12:10",
      "12:50",
      "19:10"
    ])
  })

  it("an interval that passes midnight belongs to the day on which it begins", () => {
    const hours = berlin({ fri: "18:00-02:00", closed: ["2026-11-28"] })
    assert.deepStrictEqual(changesOn(hours, "2026-11-27"), ["16:50"])
    assert.deepStrictEqual(changesOn(hours, "2026-11-28"), ["01:10"])
  })

  it("on a closed date nothing begins", () => {
    assert.deepStrictEqual(
      changesOn(berlin({ thu: "10:00-18:00", closed: ["2026-12-24"] }), "2026-12-24"),
      []
    )
    assert.deepStrictEqual(changesOn(berlin({ thu: "10:00-18:00", closed: ["2026-12-24"] }), "2026-12-31"), [
      "08:50",
      "17:10"
    ])
  })

  it("hours follow the wall clock on both sides of daylight saving", () => {
    const hours = berlin({ sat: "10:00-18:00", sun: "10:00-18:00" })
    assert.deepStrictEqual(changesOn(hours, "2027-03-27"), ["08:50", "17:10"])
    assert.deepStrictEqual(changesOn(hours, "2027-03-28"), ["07:50", "16:10"])
    assert.deepStrictEqual(changesOn(hours, "2026-10-24"), ["07:50", "16:10"])
    assert.deepStrictEqual(changesOn(hours, "2026-10-25"), ["08:50", "17:10"])
  })

  it("a night in which the clock changes ends at the hour that the clock shows", () => {
    const hours = berlin({ sat: "22:00-04:00" })
    assert.deepStrictEqual(changesOn(hours, "2027-03-28"), ["02:10"])
    assert.deepStrictEqual(changesOn(hours, "2026-10-25"), ["03:10"])
  })

  it("is open the whole day from 00:00 to 24:00", () => {
    assert.isTrue(isOpen({ zone: "UTC", mon: "00:00-24:00" }, Date.parse("2026-11-23T12:00:00Z")))
    assert.deepStrictEqual(changesOn({ zone: "UTC", mon: "00:00-24:00" }, "2026-11-24"), ["00:10"])
  })

  it.each<[string, OpeningHours, string, string]>([
    ["overlap", { mon: ["12:00-18:00", "10:00-13:00"] }, "2026-11-23T15:00:00Z", "2026-11-23T09:50:00.000Z"],
    [
      "contain another",
      { mon: ["10:00-18:00", "11:00-12:00"] },
      "2026-11-23T11:30:00Z",
      "2026-11-23T09:50:00.000Z"
    ],
    [
      "meet at midnight",
      { mon: "20:00-24:00", tue: "00:00-02:00" },
      "2026-11-24T01:00:00Z",
      "2026-11-23T19:50:00.000Z"
    ]
  ])("intervals that %s are one", (_, hours, at, since) => {
    const found = openAt({}, Date.parse(at))({ zone: "UTC", ...hours })
    assert.strictEqual(new Date(found ?? 0).toISOString(), since)
  })

  it("a day with an empty list is closed", () => {
    assert.deepStrictEqual(changesOn(berlin({ mon: [], tue: "10:00-18:00" }), "2026-11-23"), [])
  })

  const minutes = FastCheck.integer({ min: 0, max: 24 * 60 - 1 })
  const clock = (minute: number) =>
    `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`

  it.prop(
    "an interval of every day is open at a minute of its inside, its margins and at no other",
    [minutes, FastCheck.integer({ min: 1, max: 1200 }), minutes],
    ([from, length, at]) => {
      const text = `${clock(from)}-${clock((from + length) % 1440)}`
      const hours = {
        zone: "UTC",
        mon: text,
        tue: text,
        wed: text,
        thu: text,
        fri: text,
        sat: text,
        sun: text
      }
      const sinceBegin = (at - from + 10 + 1440) % 1440
      assert.strictEqual(
        isOpen(hours, Date.parse("2026-11-25T00:00:00Z") + at * 60_000),
        sinceBegin < length + 20
      )
    }
  )

  it("are computed once for equal hours, however many players have them", () => {
    const format = vi.spyOn(Intl.DateTimeFormat.prototype, "formatToParts")
    const since = openAt({}, Date.parse("2026-11-23T12:00:00Z"))
    for (let player = 0; player < 100; player++) {
      assert.isDefined(since(berlin({ mon: "10:00-18:00" })))
      assert.isUndefined(since(berlin({ tue: "10:00-18:00" })))
    }
    const calls = format.mock.calls.length
    format.mockRestore()
    assert.isBelow(calls, 50)
  })

  it.each([
    [{}, ': expected a day, such as mon: "10:00-18:00"'],
    [{ zone: "UTC", closed: ["2026-12-24"] }, ': expected a day, such as mon: "10:00-18:00"'],
    [
      { mon: "10:00-10:00" },
      'mon: expected times of opening and closing, such as "10:00-18:00", or an array of such, got "10:00-10:00". The whole day is "00:00-24:00"'
    ],
    [
      { mon: ["10:00-12:00", "9-12"] },
      'mon: expected times of opening and closing, such as "10:00-18:00", or an array of such, got "9-12". The whole day is "00:00-24:00"'
    ],
    [
      { mon: 10 },
      'mon: expected times of opening and closing, such as "10:00-18:00", or an array of such, got 10'
    ]
  ])("%j is one mistake, with its message", (hours, message) => {
    assert.deepStrictEqual(
      issuesOf(decodeOptions("hours", HoursOptions)(hours)).map(({ message, path }) => `${path}: ${message}`),
      [message]
    )
  })

  it.each([
    [{ mon: "10-18" }, "10:00-18:00"],
    [{ mon: "10:00-25:00" }, "10:00-18:00"],
    [{ zone: "Berlin" }, "Europe/Berlin"],
    [{ closed: ["24.12.2026"] }, "2026-12-24"],
    [{ closed: ["2026-02-30"] }, "2026-12-24"]
  ])("%j is an error that names %s as an example", (hours, example) => {
    assert.throws(() => Schema.decodeUnknownSync(HoursOptions)(hours), example)
  })
})
