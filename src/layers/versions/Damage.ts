/**
 * Files of versions that are not what they were, as far as that was found out. It is forgotten with the process: whoever
 * reads the file again finds it out again.
 *
 * There is one entry for each version on disk at most.
 */
import type { VersionId } from "../../services/VersionStore.ts"

export interface Damage {
  /** The paths of the files in the folder of the version. */
  readonly of: (versionId: VersionId) => ReadonlySet<string>
  /** In the place of what was known before. */
  readonly set: (versionId: VersionId, files: Iterable<string>) => void
  readonly forget: (versionId: VersionId) => void
}

export const make = (): Damage => {
  const known = new Map<VersionId, ReadonlySet<string>>()
  return {
    of: (versionId) => known.get(versionId) ?? none,
    set: (versionId, files) => {
      known.set(versionId, new Set(files))
    },
    forget: (versionId) => {
      known.delete(versionId)
    }
  }
}

const none: ReadonlySet<string> = new Set()
