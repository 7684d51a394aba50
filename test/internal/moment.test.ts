import { describe, expect, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import { momentOf } from "../../src/internal/moment.ts"

const berlin = DateTime.zoneUnsafeMakeNamed("Europe/Berlin")
const now = Date.parse("2026-11-25T16:30:00.000Z")

const at = (text: string, from = now, zone: DateTime.TimeZone = berlin) =>
  Option.getOrUndefined(Option.map(momentOf(text, from, zone), (end) => new Date(end).toISOString()))

describe("a moment", () => {
  it.each([
    ["18:00", "2026-11-25T17:00:00.000Z"],
    ["17:30", "2026-11-26T16:30:00.000Z"],
    ["9:05", "2026-11-26T08:05:00.000Z"],
    ["18:00:30", "2026-11-25T17:00:30.000Z"],
    ["17:30:01", "2026-11-25T16:30:01.000Z"],
    ["2026-12-01 09:00:15", "2026-12-01T08:00:15.000Z"],
    ["2 hours", "2026-11-25T18:30:00.000Z"],
    ["1 day", "2026-11-26T16:30:00.000Z"],
    ["2026-12-01 09:00", "2026-12-01T08:00:00.000Z"],
    ["2026-12-01T09:00", "2026-12-01T08:00:00.000Z"],
    ["2026-12-01T09:00Z", "2026-12-01T09:00:00.000Z"],
    ["2026-12-01T09:00:00.000+02:00", "2026-12-01T07:00:00.000Z"],
    ["2020-01-01 00:00", "2019-12-31T23:00:00.000Z"]
  ])("may be %s", (text, end) => expect(at(text)).toBe(end))

  it("is an hour later when summer time begins, and the first of two when it ends", () => {
    expect(at("2026-03-29 02:30")).toBe("2026-03-29T01:30:00.000Z")
    expect(at("2026-10-25 02:30")).toBe("2026-10-25T00:30:00.000Z")
    expect(at("09:00", Date.parse("2026-03-28T20:00:00.000Z"))).toBe("2026-03-29T07:00:00.000Z")
    expect(at("09:00", Date.parse("2026-10-24T20:00:00.000Z"))).toBe("2026-10-25T08:00:00.000Z")
  })

  it.each([
    "24:00",
    "18",
    "2",
    "soon",
    "",
    "Infinity",
    "2026-13-45T00:00",
    "2026-02-30T09:00",
    "2026-12-01",
    "2026-12-01 9 o'clock",
    "2026-12-01 09:00 10:00",
    "1e300 days",
    "-"
  ])("may not be %j", (text) => expect(at(text)).toBeUndefined())

  it.prop("is a time or nothing, whatever is given", [FastCheck.string()], ([text]) => {
    expect(at(text) ?? "Z").toMatch(/Z$/)
  })

  it.prop(
    "is the time of its zone, except when the clock changes",
    [
      FastCheck.date({ min: new Date("2026-01-01"), max: new Date("2036-01-01"), noInvalidDate: true }),
      FastCheck.constantFrom("Europe/Berlin", "America/St_Johns", "Asia/Tokyo", "Pacific/Apia")
    ],
    ([date, name]) => {
      const zone = DateTime.zoneUnsafeMakeNamed(name)
      const text = date.toISOString().slice(0, 16).replace("T", " ")
      const end = Option.getOrThrow(momentOf(text, now, zone))
      const shown = DateTime.formatIso(
        DateTime.unsafeMake(DateTime.toParts(DateTime.unsafeMakeZoned(end, { timeZone: zone })))
      )
      const hours = (Date.parse(shown) - Date.parse(`${text.replace(" ", "T")}Z`)) / 3_600_000
      expect([0, 0.5, 1]).toContain(hours)
    }
  )
})
