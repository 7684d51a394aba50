/**
 * What is known of the changes in a base: shared by all readers of it in a process, with the same token.
 */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import { RequestPacing } from "../../../services/RequestPacing.ts"
import type { TableChanges, TableError } from "../../../services/TableSourceClient.ts"
import type { AirtableClientOptions } from "./AirtableOptions.ts"
import type { BaseSchema } from "./baseSchema.ts"
import { baseKey } from "./pace.ts"

/** The id of a webhook, and the number of its next change. */
export interface Position {
  readonly id: string
  readonly cursor: number
}

export interface SharedFeed {
  /** The webhooks of the base that have listed an error. */
  readonly broken: Set<string>
  /** Those that could be used when they were listed last, and when that was. */
  usable: Set<string>
  listedAt: number
  /** Where the list of changes started again last, and when. */
  restart: { readonly at: number; readonly position: Position } | undefined
  schema: BaseSchema | "refused" | undefined
  /** Lets one reader ask at a time. */
  readonly asking: Effect.Semaphore
  /** The last answer, for the readers that waited for it at the same position. */
  answer: { readonly position: string; readonly exit: Exit.Exit<TableChanges, TableError> } | undefined
}

const make = (): SharedFeed => ({
  broken: new Set(),
  usable: new Set(),
  listedAt: Number.NEGATIVE_INFINITY,
  restart: undefined,
  schema: undefined,
  asking: Effect.unsafeMakeSemaphore(1),
  answer: undefined
})

/** Readers share their pacing, too; each feed is known for as long as that. */
const feeds = new WeakMap<typeof RequestPacing.Service, Map<string, SharedFeed>>()

export const sharedFeed = (options: AirtableClientOptions): Effect.Effect<SharedFeed, never, RequestPacing> =>
  Effect.map(RequestPacing, (pacing) => {
    const ofProcess = feeds.get(pacing) ?? new Map<string, SharedFeed>()
    feeds.set(pacing, ofProcess)
    const key = `${baseKey(options)} ${Redacted.value(options.apiKey)}`
    const feed = ofProcess.get(key) ?? make()
    ofProcess.set(key, feed)
    return feed
  })
