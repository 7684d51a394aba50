/**
 * The calls from the runner to the process of the benchmark of media.
 */
export interface MediaPlan {
  /** The address of the files: `<url>/0.jpg`, `<url>/1.jpg` … */
  readonly url: string
  readonly files: number
  /** The target, an existing folder. */
  readonly directory: string
  /** Whether the document proves that a file is still the same. */
  readonly proves: boolean
}

export interface Fetched {
  /** In milliseconds. */
  readonly time: number
  /** User and system time of the process, in milliseconds. */
  readonly cpu: number
  readonly reused: number
  readonly changed: boolean
}

/** A program of bare conditional requests. */
export interface BareApi {
  /** Requests all files; `tag` is the tag of each. Returns the processor time in milliseconds. */
  readonly ask: (plan: Pick<MediaPlan, "files" | "url"> & { readonly tag: string }) => Promise<number>
}

export interface Found {
  /** In milliseconds. */
  readonly time: number
  /** `JSON.parse` and `JSON.stringify` of the same text. */
  readonly parsed: number
  readonly links: number
}

export interface MediaApi {
  /** Fetches a document of links, and the files; the second time with the first as the version before. */
  readonly fetch: (plan: MediaPlan) => Promise<Fetched>
  /** Finds the links in this many documents. */
  readonly find: (plan: { readonly documents: number; readonly directory: string }) => Promise<Found>
}
