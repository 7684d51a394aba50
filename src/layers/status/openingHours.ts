/**
 * When a place is open: the hours of each day of the week, in a time zone.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { expects, omittable, show } from "../../internal/Options.ts"
import { isDay } from "../../internal/optionSchemas.ts"
import type { Identity, OpeningHours } from "../../services/StatusSnapshot.ts"

/** In the order of `Date.getUTCDay`. */
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const

const dayText = 'times of opening and closing, such as "10:00-18:00", or an array of such'
const isInterval = (text: string) =>
  /^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$/.test(text) && text.slice(0, 5) !== text.slice(6)

const isTimes = (value: unknown): value is string | ReadonlyArray<string> =>
  Predicate.isString(value) || (Array.isArray(value) && value.every(Predicate.isString))
/** Not a union: each member of a union would report its own mistake. */
const day = omittable(
  expects(Schema.declare(isTimes), dayText).pipe(
    Schema.filter((day) => {
      const wrong = [day].flat().find((text) => !isInterval(text))
      return wrong === undefined
        ? undefined
        : `expected ${dayText}, got ${show(wrong)}. The whole day is "00:00-24:00"`
    })
  )
)

const isZone = (name: string): boolean => Option.isSome(DateTime.zoneMakeNamed(name))
const zone = expects(
  Schema.String.pipe(Schema.filter(isZone)),
  'the name of a time zone, such as "Europe/Berlin"'
)

const date = expects(Schema.String.pipe(Schema.filter(isDay)), 'a date, such as "2026-12-24"')

export const HoursOptions = Schema.Struct({
  zone: omittable(zone),
  mon: day,
  tue: day,
  wed: day,
  thu: day,
  fri: day,
  sat: day,
  sun: day,
  closed: omittable(expects(Schema.Array(date), "an array of dates"))
}).pipe(
  Schema.filter(
    (hours) => days.some((day) => hours[day] !== undefined) || 'expected a day, such as mon: "10:00-18:00"'
  )
)

/** The margin before and after an interval, in milliseconds. */
const marginMs = 10 * 60_000

/** Since when a place is open at a time, both in milliseconds since 1970; `undefined` if it is closed. */
const openSince = (hours: OpeningHours, at: number): number | undefined => {
  const zone = zoneOf(hours)
  const here = DateTime.unsafeMakeZoned(at, { timeZone: zone })
  // An interval of yesterday may last until now; an interval of tomorrow begins ten minutes earlier.
  return [-1, 0, 1]
    .flatMap((offset) => intervalsOn(hours, DateTime.toParts(DateTime.add(here, { days: offset })), zone))
    .map(({ begin, end }) => ({ begin: begin - marginMs, end: end + marginMs }))
    .toSorted((one, other) => other.begin - one.begin)
    .reduce<number | undefined>(
      (since, { begin, end }) => (begin <= (since ?? at) && (since ?? at) < end ? begin : since),
      undefined
    )
}

/** Whether a place with these hours is open at a time, in milliseconds since 1970. Without hours, it is always open. */
export const isOpen = (hours: OpeningHours | undefined, at: number): boolean =>
  hours === undefined || openSince(hours, at) !== undefined

/** Since when a thing is open: by its own hours, or else by those of the whole. Without hours, it is always open. */
export const openAt = ({ hours }: Pick<Partial<Identity>, "hours">, at: number) => {
  // Finding it takes 0.1 ms, and a thousand players have mostly the same hours.
  const found = new Map<string, number | undefined>()
  const wholeSince = hours === undefined ? Number.NEGATIVE_INFINITY : openSince(hours, at)
  return (own: OpeningHours | undefined): number | undefined => {
    if (own === undefined) {
      return wholeSince
    }
    const key = JSON.stringify(own)
    const since = found.has(key) ? found.get(key) : openSince(own, at)
    found.set(key, since)
    return since
  }
}

/** The zone of the hours, or else the zone of the machine. */
export const zoneOf = ({ zone }: OpeningHours = {}): DateTime.TimeZone =>
  zone === undefined ? DateTime.zoneMakeLocal() : DateTime.zoneUnsafeMakeNamed(zone)

type Day = Pick<DateTime.DateTime.PartsWithWeekday, "day" | "month" | "weekDay" | "year">

const intervalsOn = (hours: OpeningHours, { day, month, weekDay, year }: Day, zone: DateTime.TimeZone) => {
  const date = [String(year).padStart(4, "0"), twoDigits(month), twoDigits(day)].join("-")
  if (hours.closed?.includes(date) === true) {
    return []
  }
  /** In milliseconds since 1970. A time that a change of the clock skips counts as an hour later. */
  const instant = (time: string, later: number) => {
    const [hours = 0, minutes = 0] = time.split(":").map(Number)
    return DateTime.toEpochMillis(
      DateTime.unsafeMakeZoned(
        { year, month, day: day + later, hours, minutes },
        { timeZone: zone, adjustForTimeZone: true }
      )
    )
  }
  return [hours[days[weekDay] ?? "sun"] ?? []].flat().map((text) => {
    const [from = "", to = ""] = text.split("-")
    return { begin: instant(from, 0), end: instant(to, to <= from ? 1 : 0) }
  })
}

const twoDigits = (value: number): string => String(value).padStart(2, "0")
