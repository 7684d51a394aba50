/**
 * The problems of the state as metrics: read when they are asked for, so that none stays when it is over.
 */
import * as MetricKey from "effect/MetricKey"
import * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"
import { printableLine } from "../../internal/printable.ts"
import type { Problem } from "../../services/Problem.ts"

const key = MetricKey.gauge("vitrine_problem", {
  description:
    "How many problems there are now with this code, subject and severity, of this machine or a player"
})

/** The longest subject, in characters: others may have sent it. */
const maxSubject = 128

/** One for each `code`, `subject`, `severity`, `player` and `muted` that there is now. A problem without a subject has none here. */
export const problemMetrics = (
  problems: ReadonlyArray<Problem>
): ReadonlyArray<MetricPair.MetricPair.Untyped> => {
  const counts = new Map<string, { readonly labels: Labels; readonly count: number }>()
  for (const { code, muted, player, severity, subject = "" } of problems) {
    const labels = {
      code,
      severity,
      subject: printableLine(subject, maxSubject),
      ...(player === undefined ? {} : { player: printableLine(player, maxSubject) }),
      ...(muted === undefined ? {} : { muted: "true" })
    }
    const id = JSON.stringify(labels)
    counts.set(id, { labels, count: (counts.get(id)?.count ?? 0) + 1 })
  }
  return [...counts.values()].map(({ count, labels }) =>
    MetricPair.unsafeMake(
      Object.entries(labels).reduce((key, [name, value]) => MetricKey.tagged(key, name, value), key),
      MetricState.gauge(count)
    )
  )
}

type Labels = Readonly<Record<string, string>>
