/**
 * Figures as people read them.
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

/** The time on the wall, `09:30:00`. */
export const clockTime = (date: Date): string => date.toTimeString().slice(0, 8)

const timeUnits = [
  ["d", 24 * 60 * 60],
  ["h", 60 * 60],
  ["min", 60],
  ["s", 1]
] as const

/** The two largest units that are not nothing, `2 h 13 min`. */
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
