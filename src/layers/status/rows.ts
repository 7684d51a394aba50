/**
 * Builds rows of the status, and converts between rows and problems.
 */
import * as Option from "effect/Option"
import type { Mute, Problem } from "../../services/Problem.ts"
import type { BusProblem } from "../../services/Slices.ts"
import type { Row, Section, Tone } from "../../services/StatusSnapshot.ts"

export const kv = (label: string, value: string, tone?: Tone): Row => ({
  type: "kv",
  label,
  value,
  ...(tone === undefined ? {} : { tone })
})

export const text = (text: string, tone?: Tone): Row => ({
  type: "text",
  text,
  ...(tone === undefined ? {} : { tone })
})

export const list = (label: string, items: ReadonlyArray<Row>): Row => ({ type: "list", label, items })

export const toneOf = ({ muted, severity }: Problem): Extract<Tone, "warn" | "error" | "neutral"> =>
  muted !== undefined ? "neutral" : severity === "error" ? "error" : "warn"

/** The tone of the first problem, which is the worst; `otherwise` without problems. */
export const worstTone = <T extends string>(
  { problems: [worst] }: { readonly problems: ReadonlyArray<Problem> },
  otherwise: T
): T | "warn" | "error" | "neutral" => (worst === undefined ? otherwise : toneOf(worst))

export const problemRow = (problem: Problem): Row => text(problemText(problem), toneOf(problem))

/** The text of a problem, and who has muted it. */
export const problemText = ({ muted, text }: Problem): string =>
  muted === undefined ? text : `${text} (muted ${muteText(muted)})`

/** `until 2026-11-25T18:00:00.000Z by anna@desk: the wall is painted` */
export const muteText = ({ by, until, why }: Mute): string =>
  `until ${until} by ${by}${why === undefined ? "" : `: ${why}`}`

/** A row with the number in use and the maximum. */
export const used = (label: string, count: number, maximum: number): Row =>
  kv(label, `${count} of ${maximum}`, count < maximum ? "ok" : "warn")

/** A row if the bus delivers no events. */
export const busRows = (problem: BusProblem | undefined): ReadonlyArray<Row> =>
  problem === undefined
    ? []
    : [kv("Event bus", `no events since ${problem.since}: ${problem.reason}`, "error")]

/** How many rows of one kind are listed. */
const maxListed = 20

/** The worst first. */
export const tones = ["error", "warn", "neutral"] as const

/** Errors first, muted problems last. */
export const errorsFirst = <P extends Problem>(problems: ReadonlyArray<P>): ReadonlyArray<P> =>
  tones.flatMap((tone) => problems.filter((problem) => toneOf(problem) === tone))

/** A row for each of the first twenty, and the number of further ones. */
export const firstRows = <A>(all: ReadonlyArray<A>, row: (one: A) => Row): ReadonlyArray<Row> => {
  const unlisted = all.length - maxListed
  return [
    ...all.slice(0, maxListed).map(row),
    ...(unlisted > 0 ? [text(`and ${unlisted} more`, "neutral")] : [])
  ]
}

/** A problem for each row with the tone `warn` or `error`, at any depth. Its code is the name of the section. */
export const problemsOfRows = ({ name, rows, title }: Section): ReadonlyArray<Problem> => {
  const within =
    (place: string) =>
    (row: Row): ReadonlyArray<Problem> =>
      row.type === "list"
        ? row.items.flatMap(within(`${place}, ${row.label}`))
        : Option.toArray(problemOfRow(row, name, place))
  return rows.flatMap(within(title))
}

/** The same section, with neutral rows for muted problems. */
export const quietRows = (section: Section, isMuted: (problem: Problem) => boolean): Section => {
  const within =
    (place: string) =>
    (row: Row): Row =>
      row.type === "list"
        ? { ...row, items: row.items.map(within(`${place}, ${row.label}`)) }
        : Option.exists(problemOfRow(row, section.name, place), isMuted)
          ? { ...row, tone: "neutral" }
          : row
  return { ...section, rows: section.rows.map(within(section.title)) }
}

/** `code` is the name of the section; `place` has its title and the titles of the lists around the row. */
const problemOfRow = (
  row: Exclude<Row, { readonly type: "list" }>,
  code: string,
  place: string
): Option.Option<Problem> => {
  if (row.tone !== "warn" && row.tone !== "error") {
    return Option.none()
  }
  const severity = row.tone === "warn" ? "warning" : "error"
  if (row.type === "text") {
    return Option.some({ code, severity, text: `${place}: ${row.text}` })
  }
  const subject = `${place}, ${row.label}`
  return Option.some({ code, severity, subject, text: `${subject}: ${row.value}` })
}
