/**
 * Who shares a feed of changes: all readers of a base in a process, with the same token.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { RequestPacing } from "../../../services/RequestPacing.ts"
import type { AirtableClientOptions } from "./AirtableOptions.ts"
import { makeSharedFeed, type SharedFeed } from "./changeFeed.ts"
import { baseKey } from "./pace.ts"

/** They share their pacing, too; each feed is known for as long as that. */
const feeds = new WeakMap<typeof RequestPacing.Service, Map<string, SharedFeed>>()

export const sharedFeed = (options: AirtableClientOptions): Effect.Effect<SharedFeed, never, RequestPacing> =>
  Effect.map(RequestPacing, (pacing) => {
    const ofProcess = feeds.get(pacing) ?? new Map<string, SharedFeed>()
    feeds.set(pacing, ofProcess)
    const key = `${baseKey(options)} ${Redacted.value(options.apiKey)}`
    const feed = ofProcess.get(key) ?? makeSharedFeed()
    ofProcess.set(key, feed)
    return feed
  })
