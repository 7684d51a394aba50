/**
 * The end of something, as people write it: `18:00`, `2 hours`, `2026-12-01 09:00`, or ISO 8601.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { isDay } from "./optionSchemas.ts"

/**
 * In milliseconds since 1970: a time of today or tomorrow, whichever comes first; a duration; or a date with a time.
 * Times are in the zone, unless they have an offset. When the clock changes: a skipped time is an hour later; of a
 * time that comes twice, the first counts.
 */
export const momentOf = (text: string, now: number, zone: DateTime.TimeZone): Option.Option<number> =>
  Option.firstSomeOf([timeOfDay(text, now, zone), durationFrom(text, now), dateWithTime(text, zone)]).pipe(
    Option.filter((end) => Math.abs(end) <= maxTime)
  )

/** The largest time of a `Date`. */
const maxTime = 8.64e15

const timePattern = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/

const timeOfDay = (text: string, now: number, zone: DateTime.TimeZone): Option.Option<number> =>
  Option.flatMap(hoursOf(text), (time) => {
    const { day, month, year } = DateTime.toParts(DateTime.unsafeMakeZoned(now, { timeZone: zone }))
    const today = instant({ year, month, day, ...time }, zone)
    return today > now
      ? Option.some(today)
      : Option.some(instant({ year, month, day: day + 1, ...time }, zone))
  })

const durationFrom = (text: string, now: number): Option.Option<number> =>
  Duration.decodeUnknown(text).pipe(
    Option.filter(Duration.isFinite),
    Option.map((duration) => now + Duration.toMillis(duration))
  )

const dateWithTime = (text: string, zone: DateTime.TimeZone): Option.Option<number> => {
  const [date, time = "", ...more] = text.split(/[T ]/)
  if (date === undefined || !isDay(date) || more.length > 0) {
    return Option.none()
  }
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number)
  return Option.orElse(
    Option.map(hoursOf(time), (time) => instant({ year, month, day, ...time }, zone)),
    () =>
      /(Z|[+-]\d\d:?\d\d)$/.test(time)
        ? Option.liftPredicate(Date.parse(text), Number.isFinite)
        : Option.none()
  )
}

const hoursOf = (text: string) => {
  const [, hours, minutes, seconds = "0"] = timePattern.exec(text) ?? []
  return hours === undefined
    ? Option.none()
    : Option.some({ hours: Number(hours), minutes: Number(minutes), seconds: Number(seconds) })
}

const instant = (parts: Partial<DateTime.DateTime.Parts>, zone: DateTime.TimeZone): number =>
  DateTime.toEpochMillis(DateTime.unsafeMakeZoned(parts, { timeZone: zone, adjustForTimeZone: true }))
