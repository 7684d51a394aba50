/**
 * A hold in words.
 */
import type { Hold } from "../../services/VersionStore.ts"

/** `since 2026-11-22T14:03:00.000Z by anna@desk: version … stays; version … waits` */
export const holdText = (versionId: string, { by, since, waiting }: Hold): string =>
  [
    `since ${since}${by === undefined ? "" : ` by ${by}`}: version ${versionId} stays`,
    ...(waiting === undefined ? [] : [`version ${waiting} waits`])
  ].join("; ")
