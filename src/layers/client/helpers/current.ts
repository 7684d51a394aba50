/** Selects rows that are valid now, by the clock of this machine. */

/**
 * The names of the fields with the begin and the end of validity.
 *
 * @since 0.1.0
 * @category models
 */
export interface Period<Row> {
  readonly from?: keyof Row | undefined
  readonly until?: keyof Row | undefined
}

/** Milliseconds within which a changed clock, or the end of sleep, is noticed. */
const lookMs = 60_000

/** Milliseconds of an ISO date or time. A date without a time is the begin or the end of the day in local time. */
const timeOf = (value: unknown, isEnd: boolean): number => {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)(?:[T ](.+))?$/.exec(`${value}`.trim()) ?? []
  // Browsers accept 30 February as 2 March.
  if (new Date(`${day}`).getUTCDate() !== Number(day?.slice(-2))) return Number.NaN
  const date = new Date(`${day}T${(time ?? "00:00").replace(/^\d:/, "0$&")}`)
  return time === undefined && isEnd ? date.setHours(24, 0, 0, 0) : date.getTime()
}

/** A value that cannot be parsed is no limit. */
const limitsOf = <Row>(row: Row, { from, until }: Period<Row>): readonly [begin: number, end: number] => [
  timeOf(from && row[from], false),
  timeOf(until && row[until], true)
]

/**
 * The rows that are valid at a time, in milliseconds as from `Date.now()`.
 *
 * A date (`2026-11-21`) is a whole day in the time zone of this machine: in `until`, the row is valid to the end of the day. A date
 * with a time (`2026-11-21T18:00`, with or without a zone) is a moment: in `until`, the row is valid before this moment. A missing
 * or other value is no limit.
 *
 * @since 0.1.0
 * @category utils
 */
export const validAt = <Row>(rows: ReadonlyArray<Row>, period: Period<Row>, at: number): ReadonlyArray<Row> =>
  rows.filter((row) => {
    const [begin, end] = limitsOf(row, period)
    return !(begin > at) && !(end <= at)
  })

/**
 * Calls the listener with the rows that are valid now, at once and after each change, until the returned function is called.
 * Periods are as in `validAt`. A changed clock, or the end of sleep, is noticed within a minute.
 *
 * @since 0.1.0
 * @category utils
 */
export const current = <Row>(
  rows: ReadonlyArray<Row>,
  period: Period<Row>,
  listener: (rows: ReadonlyArray<Row>) => void
): (() => void) => {
  let last: ReadonlyArray<Row> | undefined
  let timer: ReturnType<typeof setTimeout>
  const look = () => {
    const now = Date.now()
    const waits = rows.flatMap((row) => limitsOf(row, period).map((time) => time - now))
    timer = setTimeout(
      look,
      waits.reduce((least, wait) => (wait > 0 && wait < least ? wait : least), lookMs)
    )
    const valid = validAt(rows, period, now)
    if (valid.length !== last?.length || valid.some((row, index) => row !== last?.[index])) {
      last = valid
      listener(valid)
    }
  }
  look()
  return () => clearTimeout(timer)
}
