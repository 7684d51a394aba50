/**
 * A hold in words.
 */
import type { Hold } from "../../services/VersionStore.ts"

/** `since 2026-11-22T14:03:00.000Z by anna@desk: version … stays; version … waits` */
export const holdText = (versionId: string, { by, lost, since, waiting }: Hold): string =>
  [
    `since ${since}${by === undefined ? "" : ` by ${by}`}: version ${versionId} stays${lost === undefined ? "" : ` in the place of ${lost}, which is not on disk any more`}`,
    ...(waiting === undefined ? [] : [`version ${waiting} waits`])
  ].join("; ")
