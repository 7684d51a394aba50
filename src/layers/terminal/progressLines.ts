/**
 * The progress of a fetch as lines of the log.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ContentEvent } from "../../services/ContentEvents.ts"
import type { SourceProgress } from "../../services/ContentSource.ts"
import { outcomeText, progressText } from "../content/contentText.ts"

/** Milliseconds between two lines about one document where nothing but its numbers has changed. */
const patience = 5000

/**
 * A line when a source begins with a document, rests for longer than its pace, is done or has failed, and one
 * every five seconds in between.
 */
export const makeProgressLines = Effect.sync(() => {
  const said = new Map<string, { readonly progress: SourceProgress; readonly at: number }>()

  const isNews = (sourceId: string, { document, waiting }: SourceProgress, now: number): boolean => {
    const last = said.get(sourceId)
    return (
      last === undefined ||
      last.progress.document !== document ||
      now - last.at >= patience ||
      (waiting !== undefined &&
        waiting.reason !== "pacing" &&
        waiting.reason !== last.progress.waiting?.reason)
    )
  }

  return ({ name, payload }: ContentEvent): Effect.Effect<void> => {
    switch (name) {
      case "content:source:progress":
        return Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const { sourceId } = payload
          if (!isNews(sourceId, payload, now)) {
            return Effect.void
          }
          said.set(sourceId, { progress: payload, at: now })
          return Effect.logInfo(`${sourceId}: ${progressText(payload)}`)
        })
      case "content:source:done":
        return Effect.logInfo(`${payload.sourceId}: done, ${outcomeText(payload)}`)
      case "content:source:error":
        return Effect.logInfo(`${payload.sourceId}: failed`)
      default:
        return Effect.void
    }
  }
})
