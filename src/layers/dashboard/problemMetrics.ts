/**
 * The problems of the state as metrics.
 */
import * as Array from "effect/Array"
import type * as MetricPair from "effect/MetricPair"
import { printableLine } from "../../internal/printable.ts"
import type { Problem } from "../../services/Problem.ts"
import { gauge } from "../status/gauge.ts"

const problemCount = gauge(
  "vitrine_problem",
  "How many problems there are now with this code, subject and severity, of this machine or a player"
)

/** One for each `code`, `subject`, `severity`, `player` and `muted` that there is now. A problem without a subject has none here. */
export const problemMetrics = (
  problems: ReadonlyArray<Problem>
): ReadonlyArray<MetricPair.MetricPair.Untyped> =>
  Object.values(Array.groupBy(problems.map(labelsOf), (labels) => JSON.stringify(labels))).map((same) =>
    problemCount(same.length, same[0])
  )

/** The longest subject, in characters: others may have sent it. */
const maxSubject = 128

const labelsOf = ({ code, muted, player, severity, subject = "" }: Problem) => ({
  code,
  severity,
  subject: printableLine(subject, maxSubject),
  ...(player === undefined ? {} : { player: printableLine(player, maxSubject) }),
  ...(muted === undefined ? {} : { muted: "true" })
})
