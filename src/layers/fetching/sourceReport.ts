/**
 * The rows and problems of one source.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { outcomeText, progressText } from "../../internal/contentCounts.ts"
import type { SourceProgress } from "../../services/ContentSource.ts"
import type { Problem } from "../../services/Problem.ts"
import { type ContentState, type SourceState, TableSourceData } from "../../services/Slices.ts"
import type { Row } from "../../services/StatusSnapshot.ts"
import { violationText } from "../status/contentText.ts"
import { kv, problemRow } from "../status/rows.ts"
import { reported } from "../status/slices.ts"
import { isAcceptable } from "./acceptWarning.ts"

export type Rejection = NonNullable<ContentState["rejection"]>

/** The message of a failure, without violations that have their own row. */
export const failureText = (message: string, rejection: Rejection | undefined): string =>
  rejection?.violations.every((violation) => message.includes(violationText(violation))) === true
    ? "rejected, see above"
    : message

export const sourceProblems = (
  id: string,
  { data, lastSuccess, progress }: SourceState,
  /** The command that accepts its warnings, if it can accept them. */
  accept?: string
): ReadonlyArray<Problem> => {
  const ofSource = (code: string, text: string, subject = id): Problem => ({
    code,
    severity: "warning",
    subject,
    text: `Source "${id}": ${text}`
  })
  const changes = tableDataOf(data).changes?.problem
  return [
    ...(lastSuccess?.warnings ?? []).map((warning) => ({
      ...ofSource(warning.code, warning.text, warning.subject),
      accept: isAcceptable(warning) ? accept : undefined
    })),
    ...(progress?.waiting !== undefined && isHeldUp(progress)
      ? [ofSource("source:waiting", heldUpText(progress.document, progress.waiting))]
      : []),
    ...(changes === undefined ? [] : [ofSource("source:changes", changesText(changes))]),
    ...reported(data)
  ]
}

/** What a source waits for. Times are in ISO 8601: the reader may be in another time zone. */
const heldUpText = (document: string, { reason, until }: NonNullable<SourceProgress["waiting"]>): string =>
  reason === "penalty"
    ? `it waits until ${until} to read ${document}: the API refuses requests for a while`
    : `it waits until ${until} to read ${document} again: a request has failed`

/** Whether a source waits for anything except its own pace. */
const isHeldUp = ({ waiting }: SourceProgress): boolean =>
  waiting !== undefined && waiting.reason !== "pacing"

export const sourceRows = (
  { data, failing, fetchingSince, lastError, lastSuccess, progress }: SourceState,
  rejection: Rejection | undefined
): ReadonlyArray<Row> => [
  ...(failing === undefined
    ? []
    : [kv("Failing", `since ${failing.since}; its content is from before`, "warn")]),
  progress !== undefined
    ? kv("Now", progressText(progress), isHeldUp(progress) ? "warn" : "ok")
    : fetchingSince !== undefined
      ? kv("Now", "starting to fetch", "ok")
      : kv("Now", "idle", "neutral"),
  lastSuccess === undefined
    ? kv("Last success", "none yet", "neutral")
    : kv("Last success", `${lastSuccess.timestamp}, ${outcomeText(lastSuccess)}`, "ok"),
  ...(lastSuccess?.warnings ?? []).map(({ text }) => kv("Warning", text, "warn")),
  ...(lastError === undefined
    ? []
    : [
        kv(
          "Last error",
          `${lastError.timestamp}, ${failureText(lastError.message, rejection)}`,
          lastError.timestamp > (lastSuccess?.timestamp ?? "") ? "error" : "neutral"
        )
      ]),
  ...dataRows(data)
]

/** What a source reports: its problems, and its texts and figures by name. */
const dataRows = (data: SourceState["data"] = {}): ReadonlyArray<Row> => {
  const { calls, changes } = tableDataOf(data)
  return [
    ...(changes === undefined
      ? []
      : changes.problem === undefined
        ? [kv("Changes", "asked for at every tick", "ok")]
        : [kv("Changes", changesText(changes.problem), "warn")]),
    ...(calls === undefined ? [] : [kv("API calls", callsText(calls))]),
    ...reported(data).map(problemRow),
    ...Object.entries(data).flatMap(([label, value]) =>
      Predicate.isString(value) || Predicate.isNumber(value) ? [kv(label, String(value))] : []
    )
  ]
}

const decodeTableData = Schema.decodeUnknownOption(TableSourceData)

const tableDataOf = (data: unknown): TableSourceData => Option.getOrElse(decodeTableData(data), () => ({}))

const changesText = (reason: string): string =>
  `it cannot report changes: ${reason}. All tables are read at each tick`

type Calls = NonNullable<TableSourceData["calls"]>

const callsText = ({ month, today }: Calls): string =>
  `${today.toLocaleString("en")} today, ${month.toLocaleString("en")} this month (UTC, since the start)`
