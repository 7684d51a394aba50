/**
 * How far a fetch has come.
 */
import type { ContentState, SourceState } from "../../services/Slices.ts"

/** In percent of the bytes that are known; missing if no fetch runs. */
export const fetchedPercent = ({ fetchingSince, sources }: ContentState): number | undefined => {
  if (fetchingSince === undefined) return undefined
  const parts = Object.values(sources).flatMap((source) => fetchedPart(source, fetchingSince))
  if (parts.length === 0) return undefined
  const done = parts.reduce((sum, part) => sum + part.done, 0)
  const total = parts.reduce((sum, part) => sum + part.total, 0)
  return total === 0 ? 0 : Math.max(0, Math.min(100, Math.floor((100 * done) / total)))
}

const fetchedPart = ({ fetchingSince, lastSuccess, progress }: SourceState, since: string) => {
  const { bytes: done = 0, totalBytes: total = 0 } = progress?.attachments ?? {}
  return fetchingSince !== undefined
    ? [{ done, total }]
    : lastSuccess !== undefined && lastSuccess.timestamp >= since
      ? [{ done: lastSuccess.bytes, total: lastSuccess.bytes }]
      : []
}
