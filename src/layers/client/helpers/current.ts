/** What is valid now, by the clock of this machine. */

/** The fields of rows that say from when and until when they are valid. */
export interface Period<Row> {
  readonly from?: keyof Row | undefined
  readonly until?: keyof Row | undefined
}

/** How long the clock may be set to another time, or the machine asleep, before that is noticed. */
const lookMs = 60_000

/** In milliseconds, of an ISO date or time; a date alone is the begin of that day here, or its end. */
const timeOf = (value: unknown, isEnd: boolean): number => {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)(?:[T ](.+))?$/.exec(`${value}`.trim()) ?? []
  // For browsers, 30 February is 2 March.
  if (new Date(`${day}`).getUTCDate() !== Number(day?.slice(-2))) return Number.NaN
  const date = new Date(`${day}T${(time ?? "00:00").replace(/^\d:/, "0$&")}`)
  return time === undefined && isEnd ? date.setHours(24, 0, 0, 0) : date.getTime()
}

/** What cannot be read is no limit. */
const limitsOf = <Row>(row: Row, { from, until }: Period<Row>): readonly [begin: number, end: number] => [
  timeOf(from && row[from], false),
  timeOf(until && row[until], true)
]

/**
 * The rows that are valid at a time, in milliseconds as `Date.now()` has it.
 *
 * A date alone (`2026-11-21`) is a whole day of this machine's time zone: with it in `until`, a row is valid to the end of that day. A
 * date and a time (`2026-11-21T18:00`, with or without a zone) is that moment; in `until`, it is the first at which the row is not
 * valid any more. What is missing, or is none of both, is no limit.
 */
export const validAt = <Row>(rows: ReadonlyArray<Row>, period: Period<Row>, at: number): ReadonlyArray<Row> =>
  rows.filter((row) => {
    const [begin, end] = limitsOf(row, period)
    return !(begin > at) && !(end <= at)
  })

/**
 * Calls the listener with the rows that are valid now, at once and whenever others are, until the function that it returns is called.
 * The periods are those of `validAt`. When the clock was set or the machine was asleep, that is noticed within a minute.
 */
export const current = <Row>(
  rows: ReadonlyArray<Row>,
  period: Period<Row>,
  listener: (rows: ReadonlyArray<Row>) => void
): (() => void) => {
  let shown: ReadonlyArray<Row> | undefined
  let timer: ReturnType<typeof setTimeout>
  const look = () => {
    const now = Date.now()
    const waits = rows.flatMap((row) => limitsOf(row, period).map((time) => time - now))
    timer = setTimeout(
      look,
      waits.reduce((least, wait) => (wait > 0 && wait < least ? wait : least), lookMs)
    )
    const valid = validAt(rows, period, now)
    if (valid.length !== shown?.length || valid.some((row, index) => row !== shown?.[index])) {
      shown = valid
      listener(valid)
    }
  }
  look()
  return () => clearTimeout(timer)
}
