/**
 * The progress of a fetch as lines of the log.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import type { ContentEvent } from "../../services/ContentEvents.ts"
import type { SourceProgress } from "../../services/ContentSource.ts"
import { outcomeText, progressText } from "../content/contentText.ts"

/** Milliseconds between two lines about one document where nothing but its numbers has changed. */
const patience = 5000

/**
 * A line when a source begins with a document, which tells what came of the one before, when it rests for longer than
 * its pace, is done or has failed, and one every five seconds in between.
 */
export const makeProgressLines = Effect.sync(() => {
  const latest = new Map<string, SourceProgress>()
  const said = new Map<string, { readonly progress: SourceProgress; readonly at: number }>()

  /** What is to be said of it, if anything. */
  const newsOf = (sourceId: string, progress: SourceProgress, now: number): string | undefined => {
    const before = latest.get(sourceId)
    if (before !== undefined && before.document !== progress.document) {
      return `${progressText(Struct.omit(before, "waiting"))}; then ${progress.document}`
    }
    const last = said.get(sourceId)
    const { waiting } = progress
    const isNews =
      last === undefined ||
      now - last.at >= patience ||
      (waiting !== undefined &&
        waiting.reason !== "pacing" &&
        waiting.reason !== last.progress.waiting?.reason)
    return isNews ? progressText(progress) : undefined
  }

  const log = ({ name, payload }: ContentEvent): Effect.Effect<void> => {
    switch (name) {
      case "content:source:progress":
        return Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const { sourceId, ...progress } = payload
          const news = newsOf(sourceId, progress, now)
          latest.set(sourceId, progress)
          if (news === undefined) {
            return Effect.void
          }
          said.set(sourceId, { progress, at: now })
          return Effect.logInfo(`${sourceId}: ${news}`)
        })
      case "content:source:done":
        return Effect.logInfo(`${payload.sourceId}: done, ${outcomeText(payload)}`).pipe(
          Effect.annotateLogs({ durationMs: payload.durationMs, records: payload.records })
        )
      case "content:source:error":
        return Effect.logInfo(`${payload.sourceId}: failed`)
      default:
        return Effect.void
    }
  }

  return (event: ContentEvent): Effect.Effect<void> =>
    "sourceId" in event.payload
      ? Effect.annotateLogs(log(event), "source", event.payload.sourceId)
      : Effect.void
})
