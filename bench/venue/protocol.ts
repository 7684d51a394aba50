/**
 * What the runner asks of the processes of a venue.
 */

/** Lines to a server on which the bytes are counted, of both directions. */
export interface LinesApi {
  /** So many lines, each a port of its own. */
  readonly open: (options: {
    readonly port: number
    readonly lines: number
  }) => Promise<ReadonlyArray<number>>
  /** Of each line, since it was opened. */
  readonly bytes: () => ReadonlyArray<number>
}

export type Kind = "versions" | "folder" | "link"

export interface Reading {
  /** How often it has read all files. */
  readonly passes: number
  /** How many editions it has seen. */
  readonly editions: number
  /** Passes in which not all files were of one edition. */
  readonly mixed: number
  /** Passes in which something was not there, or could not be read. */
  readonly failed: number
}

/** A screen that reads all files again and again. */
export interface ReaderApi {
  /**
   * `versions`: what the manifest in the folder names; `folder`: the folder; `link`: where the link `current` in the folder
   * leads at the beginning of a pass.
   */
  readonly start: (options: { readonly folder: string; readonly kind: Kind }) => void
  readonly stop: () => Reading
}

export interface CrowdPlan {
  readonly port: number
  readonly machines: number
}

/** Machines that only ask for the manifest, or that only report, in the way and at the times of a replica. */
export interface CrowdApi {
  readonly start: (plan: CrowdPlan) => void
  /** That were answered, and that were not, since the last call. */
  readonly requests: () => { readonly requests: number; readonly failed: number }
}

/** That of the hub. */
export const reportsToken = "a-token-of-the-benchmark"
