/**
 * Names of versions.
 */
import { timeOf, type VersionId } from "../../services/VersionStore.ts"

/**
 * The id of a version made at the given time, in milliseconds: after all existing ones in order, whatever the
 * clock did, and equal to none.
 */
export const nextVersionId = (now: number, existing: ReadonlyArray<VersionId>): VersionId => {
  const candidate = compact(now)
  const latest = existing.reduce<VersionId | undefined>(
    (latest, id) => (latest === undefined || id > latest ? id : latest),
    undefined
  )
  if (latest === undefined || latest.slice(0, candidate.length) < candidate) {
    return candidate
  }
  const second = latest.slice(0, candidate.length)
  const suffix = Number(latest.slice(candidate.length + 1)) + 1
  return suffix <= maxSuffix ? `${second}-${String(suffix).padStart(2, "0")}` : compact(timeOf(second) + 1000)
}

const maxSuffix = 99

/** `2026-11-21T09:30:00.000Z` as `20261121T093000Z`. */
const compact = (time: number): string => new Date(time).toISOString().replace(/[-:]|\.\d{3}/g, "")
