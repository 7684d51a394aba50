/**
 * The calls from the runner to the processes of a venue.
 */

/** Lines to a server that count bytes in both directions. */
export interface LinesApi {
  /** Opens this many lines, each with its own port. */
  readonly open: (options: {
    readonly port: number
    readonly lines: number
  }) => Promise<ReadonlyArray<number>>
  /** The bytes of each line since it was opened. */
  readonly bytes: () => ReadonlyArray<number>
}

export type Kind = "versions" | "folder" | "link"

export interface Reading {
  /** How often it has read all files. */
  readonly passes: number
  /** How many editions it has seen. */
  readonly editions: number
  /** Passes with files of more than one edition. */
  readonly mixed: number
  /** Passes in which a file was missing or could not be read. */
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

/** Machines that only ask for the manifest, or that only report, as a replica does. */
export interface CrowdApi {
  readonly start: (plan: CrowdPlan) => void
  /** Answered and failed requests since the last call. */
  readonly requests: () => { readonly requests: number; readonly failed: number }
}

/** That of the hub. */
export const reportsToken = "a-token-of-the-benchmark"
