/**
 * Figures for people.
 */
export const countText = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`

export const secondsText = (millis: number): string => `${(millis / 1000).toFixed(1)} s`

const sizeUnits = ["KiB", "MiB", "GiB", "TiB"]

/** `312 bytes`, `3.1 MiB` */
export const sizeText = (bytes: number): string => {
  if (bytes < 1024) {
    return countText(bytes, "byte")
  }
  const power = Math.min(sizeUnits.length, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** power).toFixed(1)} ${sizeUnits[power - 1]}`
}

/** The local time of day, `09:30:00`. */
export const clockTime = (date: Date): string => date.toTimeString().slice(0, 8)

/** `09:30:08 (in 8 s)`, `2026-11-20 09:30:00 (1 d ago)` */
export const momentText = (date: Date, now: number): string => {
  const seconds = Math.round((date.getTime() - now) / 1000)
  const distance = durationText(Math.abs(seconds) * 1000)
  const relation = seconds === 0 ? "now" : seconds > 0 ? `in ${distance}` : `${distance} ago`
  return `${localTime(date, now)} (${relation})`
}

/** `09:30:08`, `2026-11-20 09:30:00`: the local time, with the date if it is not today. */
export const localTime = (date: Date, now: number): string => {
  const isToday = date.toDateString() === new Date(now).toDateString()
  return `${isToday ? "" : `${localDate(date)} `}${clockTime(date)}`
}

/** A text with its ISO times replaced by `words`, by default `localTime`. */
export const withLocalTimes = (
  text: string,
  now: number,
  words: (date: Date, now: number) => string = localTime
): string =>
  text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z/g, (time) => words(new Date(time), now))

const localDate = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-")

const timeUnits = [
  ["d", 24 * 60 * 60],
  ["h", 60 * 60],
  ["min", 60],
  ["s", 1]
] as const

/** The two largest units that are not zero, `2 h 13 min`. */
export const durationText = (millis: number): string => {
  let seconds = Math.floor(millis / 1000)
  const parts = timeUnits.map(([unit, size]) => {
    const count = Math.floor(seconds / size)
    seconds -= count * size
    return { count, unit }
  })
  const first = parts.findIndex(({ count }) => count > 0)
  return first === -1
    ? "0 s"
    : parts
        .slice(first, first + 2)
        .filter(({ count }) => count > 0)
        .map(({ count, unit }) => `${count} ${unit}`)
        .join(" ")
}
