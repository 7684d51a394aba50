/**
 * The calls from the runner to the processes of the table source's benchmark.
 */

/** The local table server. */
export interface TableServerApi {
  /** Serves a folder at the URL that it returns, when every table was read once. */
  readonly start: (options: {
    readonly directory: string
    readonly tables: ReadonlyArray<string>
    readonly rateLimit: boolean
  }) => Promise<string>
  readonly requests: () => Promise<Requests>
  /** User and system time of the process since its start, in milliseconds. */
  readonly cpu: () => number
}

/** Counts since the start, without reading at the start. */
export interface Requests {
  readonly pages: number
  /** Requests for pages and for changes. */
  readonly calls: number
  readonly attachments: number
  /** Pages that were refused because of the limit. */
  readonly refused: number
}

export interface FetchPlan {
  readonly endpointUrl: string
  readonly tables: ReadonlyArray<string>
  /** The target, an existing folder. */
  readonly directory: string
  /** Whether a peer that can keep the limit of the API keeps it. */
  readonly paced: boolean
}

export interface Usage {
  /** User and system time of the process since its start, in milliseconds. */
  readonly cpu: number
  /** The most memory that was resident, in MiB. */
  readonly memory: number
}

/** A program that saves tables. */
export interface PeerApi {
  readonly fetch: (plan: FetchPlan) => Promise<Fetched>
  readonly usage: () => Usage
}

export interface Fetched {
  /** In milliseconds. */
  readonly time: number
  /** The folder of the tables' files. */
  readonly directory: string
  /** Whether the fetch made a new version. */
  readonly changed: boolean
}

export interface WatchPlan extends FetchPlan {
  readonly fetchEvery: number
  /** Whether it asks what has changed before it fetches. */
  readonly asks: boolean
}

/** A controller that fetches again and again. */
export interface WatcherApi {
  readonly start: (plan: WatchPlan) => void
  /** Waits for the next version, the first included: when it was announced, in milliseconds since 1970. */
  readonly promoted: () => Promise<number>
  /** How long the longest fetch so far took, in milliseconds. */
  readonly longestFetch: () => number
}

/** The only view and base there are. */
export const view = "Grid view"
export const baseId = "appBench"
export const apiKey = "patBench"
