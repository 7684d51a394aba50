/**
 * What is asked of both peers.
 */

/** The widths in WebP that are made of each picture. */
export const widths = [640, 1920] as const

/** How many processes make them. */
export const workers = 2

export interface Plan {
  /** The pictures, one after the other in turn (absolute paths). */
  readonly files: ReadonlyArray<string>
  /** Where what is made goes (absolute path). */
  readonly directory: string
}

export interface PeerApi {
  /** Answered when the program has loaded, which is no part of what is measured. */
  readonly ready: () => void
  /** Gives how many files were made. */
  readonly make: (plan: Plan) => Promise<number>
}
