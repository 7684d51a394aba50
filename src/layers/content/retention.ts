/**
 * Which versions are kept on disk (decisions, part A).
 */
import type { VersionOverview } from "../../services/VersionStore.ts"

/**
 * The versions that need not be kept: neither among the newest `keepVersions`, nor active, nor shown by a
 * consumer. `versions` has the oldest first.
 */
export const dispensable = (
  versions: ReadonlyArray<VersionOverview>,
  keepVersions: number
): ReadonlyArray<VersionOverview> =>
  versions
    .slice(0, Math.max(0, versions.length - keepVersions))
    .filter(({ active, leases }) => !active && leases.length === 0)
