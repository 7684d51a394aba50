/**
 * The calls to both peers.
 */

/** The widths of the WebP pictures that are made from each picture. */
export const widths = [640, 1920] as const

/** How many processes make them. */
export const workers = 2

export interface Plan {
  /** The pictures, one after the other in turn (absolute paths). */
  readonly files: ReadonlyArray<string>
  /** The folder for the results (absolute path). */
  readonly directory: string
}

export interface PeerApi {
  /** Answered when the program has loaded; loading is not measured. */
  readonly ready: () => void
  /** Returns the number of files that were made. */
  readonly make: (plan: Plan) => Promise<number>
}
