/**
 * Whether all is well, in one word: on the dashboard, at `GET /healthz`, and in `vitrine status`.
 *
 * It is a function of what a controller reports, so that all three say the same.
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ContentState } from "./ContentEvents.ts"
import type { GlobalState, Row, StatusSnapshot, Tone } from "./StatusSnapshot.ts"

/** The first one that applies, from the worst. */
export type HealthWord = "NO CONTENT" | "FAILING" | "HELD" | "WARNING" | "OK"

/** When what is wrong is not only worth a warning. In milliseconds. */
export const HealthRules = Schema.Struct({
  /** How long fetches may fail in a row. */
  failingForMs: Schema.Number,
  /** How old the last fetch may be that has succeeded; any age where it is left out. */
  maxAgeMs: Schema.optionalWith(Schema.Number, { exact: true })
})
export type HealthRules = typeof HealthRules.Type

export const defaultRules: HealthRules = { failingForMs: 15 * 60_000 }

/** The rules of the controller's dashboard, which are in its slice of the state; the default ones where it has none. */
export const rulesOf = ({ plugins }: GlobalState): HealthRules =>
  Option.match(decodeDashboard(plugins.dashboard), {
    onNone: () => defaultRules,
    onSome: ({ rules }) => rules
  })

export const DashboardState = Schema.Struct({ url: Schema.String, rules: HealthRules })

const decodeDashboard = Schema.decodeUnknownOption(DashboardState)

/** A reason for the word. */
export interface Finding {
  readonly tone: Extract<Tone, "warn" | "error">
  /** Times in it are ISO 8601. */
  readonly text: string
}

export interface Health {
  readonly word: HealthWord
  /** Not where the word is `NO CONTENT` or `FAILING`. */
  readonly isHealthy: boolean
  /** Errors first; empty where the word is `OK`. */
  readonly findings: ReadonlyArray<Finding>
}

export interface Reported {
  readonly state: GlobalState
  readonly status: StatusSnapshot
  /** In milliseconds since 1970. */
  readonly now: number
  readonly rules: HealthRules
}

export const healthOf = ({ now, rules, state, status }: Reported): Health => {
  const contents = contentsOf(state)
  const findings = [
    ...contents.flatMap((content) => contentFindings(content, rules, now)),
    ...status.sections.flatMap(({ name, rows, title }) =>
      contents.some((content) => content.name === name)
        ? besideSlice(rows).flatMap((row) => rowFindings(row, title).map(asWarning))
        : rows.flatMap((row) => rowFindings(row, title))
    )
  ]
  const errors = findings.filter(({ tone }) => tone === "error")
  const word = contents.some(({ state }) => state.versionId === undefined)
    ? "NO CONTENT"
    : errors.length > 0
      ? "FAILING"
      : contents.some(({ state }) => state.held !== undefined)
        ? "HELD"
        : findings.length > 0
          ? "WARNING"
          : "OK"
  return {
    word,
    isHealthy: word !== "NO CONTENT" && word !== "FAILING",
    findings: [...errors, ...findings.filter(({ tone }) => tone === "warn")]
  }
}

export interface NamedContent {
  readonly name: string
  readonly state: ContentState
}

/** The slices of all content plugins. */
export const contentsOf = ({ plugins }: GlobalState): ReadonlyArray<NamedContent> =>
  Object.entries(plugins).flatMap(([name, slice]) =>
    Either.match(decodeContent(slice), { onLeft: () => [], onRight: (state) => [{ name, state }] })
  )

const decodeContent = Schema.decodeUnknownEither(ContentState)

/** The labels of rows of a content's status that say what its slice says, too. */
export const contentLabels = {
  held: "Held",
  rejected: "Rejected",
  lastFetch: "Last fetch",
  lastError: "Last error"
} as const

const known: ReadonlyArray<string> = Object.values(contentLabels)

const contentFindings = (
  { name, state }: NamedContent,
  { failingForMs, maxAgeMs }: HealthRules,
  now: number
): ReadonlyArray<Finding> => {
  const { failingSince, fetchingSince, generatedAt, held, lastFetch, lastSuccess, versionId } = state
  const error = lastFetch !== undefined && "error" in lastFetch ? lastFetch.error.message : undefined
  const findings: Array<Finding> = []
  if (versionId === undefined) {
    const why =
      error ?? (fetchingSince === undefined ? "nothing was fetched yet" : "the first fetch is running")
    findings.push({ tone: "error", text: `There is no version of "${name}": ${why}` })
  } else if (error !== undefined && failingSince !== undefined) {
    const isLong = now - Date.parse(failingSince) >= failingForMs
    findings.push({
      tone: isLong ? "error" : "warn",
      text: `Fetches of "${name}" have failed since ${failingSince}: ${error}`
    })
  }
  const checkedAt = lastSuccess ?? generatedAt
  if (maxAgeMs !== undefined && checkedAt !== undefined && now - Date.parse(checkedAt) > maxAgeMs) {
    findings.push({ tone: "error", text: `"${name}" is too old: it was last up to date at ${checkedAt}` })
  }
  if (held !== undefined) {
    const by = held.by === undefined ? "" : ` by ${held.by}`
    const waiting = held.waiting === undefined ? "" : `; version ${held.waiting} waits`
    findings.push({ tone: "warn", text: `"${name}" is held since ${held.since}${by}${waiting}` })
  }
  return findings
}

/** What a content's rows say beside its slice. */
const besideSlice = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> =>
  rows
    .filter((row) => row.type === "text" || !known.includes(row.label))
    .map((row) => (row.type === "list" ? { ...row, items: besideSlice(row.items) } : row))

/** Whether content can be shown, its slice says. */
const asWarning = ({ text }: Finding): Finding => ({ tone: "warn", text })

/** What a row says that warns or reports an error, and the rows in it. */
const rowFindings = (row: Row, place: string): ReadonlyArray<Finding> => {
  if (row.type === "list") {
    return row.items.flatMap((item) => rowFindings(item, `${place}, ${row.label}`))
  }
  const { tone } = row
  if (tone !== "warn" && tone !== "error") {
    return []
  }
  return row.type === "kv"
    ? [{ tone, text: `${place}, ${row.label}: ${row.value}` }]
    : [{ tone, text: `${place}: ${row.text}` }]
}
