/**
 * Builds rows of the status, also of problems, and judges a finished view. Needs no other library.
 */
import { shellWords } from "../../internal/printable.ts"
import type { Mute, Problem } from "../../services/Problem.ts"
import type { BusProblem } from "../../services/Slices.ts"
import type { Row, Tone } from "../../services/StatusSnapshot.ts"
import type { Health, View } from "../../services/View.ts"

export const kv = (label: string, value: string, tone?: Tone): Row => ({
  type: "kv",
  label,
  value,
  tone
})

export const text = (text: string, tone?: Tone): Row => ({ type: "text", text, tone })

export const list = (label: string, items: ReadonlyArray<Row>): Row => ({ type: "list", label, items })

/** Whether a problem counts for the word, for health and for alerts. */
export const isCounted = ({ muted, unwatched }: Pick<Problem, "muted" | "unwatched">): boolean =>
  muted === undefined && unwatched === undefined

export const toneOf = (problem: Problem): Extract<Tone, "warn" | "error" | "neutral"> =>
  !isCounted(problem) ? "neutral" : problem.severity === "error" ? "error" : "warn"

/** The tone of the first problem, which is the worst; `otherwise` without problems. */
export const worstTone = <T extends string>(
  { problems: [worst] }: { readonly problems: ReadonlyArray<Problem> },
  otherwise: T
): T | "warn" | "error" | "neutral" => (worst === undefined ? otherwise : toneOf(worst))

export const problemRow = (problem: Problem): Row => text(problemText(problem), toneOf(problem))

/** The text of a problem, who has muted it, and why it is no longer watched. */
export const problemText = ({ muted, text, unwatched }: Problem): string =>
  [
    text,
    ...(muted === undefined ? [] : [`(muted ${muteText(muted)})`]),
    ...(unwatched === undefined ? [] : [`(no longer watched: ${unwatched})`])
  ].join(" ")

/** The command that accepts the problem; `undefined` if nobody can accept it. */
export const acceptText = ({ accept, code, subject = "" }: Problem): string | undefined =>
  accept === undefined ? undefined : `vitrine accept ${shellWords(code, subject)}`

/** `until 2026-11-25T18:00:00.000Z by anna@desk: the wall is painted` */
export const muteText = ({ by, until, why }: Mute): string =>
  `until ${until} by ${by}${why === undefined ? "" : `: ${why}`}`

/** How long the status warns of a loss that is over, in milliseconds. */
const lossFor = 10 * 60_000

/** Whether the status still warns of a loss at this time; `undefined` is no loss. */
export const isRecentLoss = (at: string | undefined, now: number): boolean =>
  at !== undefined && now - Date.parse(at) < lossFor

/** A row with the number in use and the maximum. */
export const used = (label: string, count: number, maximum: number): Row =>
  kv(label, `${count} of ${maximum}`, count < maximum ? "ok" : "warn")

/** A row if the bus delivers no events. */
export const busRows = (problem: BusProblem | undefined): ReadonlyArray<Row> =>
  problem === undefined
    ? []
    : [kv("Event bus", `no events since ${problem.since}: ${problem.reason}`, "warn")]

/** How many rows of one kind are listed. */
const maxListed = 20

/** The worst first. */
export const tones = ["error", "warn", "neutral"] as const

/** Errors first, muted and unwatched problems last. */
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

/** Whether visitors see what they should, as far as is known. */
export const isHealthy = (word: Health): boolean => word !== "NO CONTENT" && word !== "FAILING"

/** Why the last fetch failed: of the content with this name, or else of the first content that failed. */
export const lastFetchFailure = ({ contents }: View, name?: string): string | undefined =>
  contents
    .filter((content) => (name ?? content.name) === content.name)
    .flatMap(({ lastFetch }) => lastFetch?.failure ?? [])[0]
