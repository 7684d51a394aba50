/**
 * Reports the outcome of a fetch: by events, in the state, in the log and in metrics.
 */

import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { countsText, sumCounts } from "../../internal/contentCounts.ts"
import { countText, secondsText } from "../../internal/readable.ts"
import { messageOf, serializeError } from "../../internal/SerializedError.ts"
import { kindOf, makeWarnWhile } from "../../internal/warnOnce.ts"
import type { FetchError } from "../../services/Content.ts"
import type { FetchOutcome } from "../../services/ContentEvents.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { ContentState } from "../../services/Slices.ts"
import { latestOf } from "../versions/ManifestFile.ts"
import { ActiveVersion } from "./ActiveVersion.ts"
import { type ContentSlice, countFetch, errorOf, timestamp, withSources } from "./contentState.ts"
import { violationsOf } from "./fetchSource.ts"
import type { Fetched, Report } from "./Provider.ts"

export const makeFetchReport = Effect.fnUntraced(function* (report: Report, slice: ContentSlice) {
  const { mode } = yield* ControllerState
  const activeVersion = yield* ActiveVersion
  const warning = makeWarnWhile((message) => message)

  const logDone = Effect.fnUntraced(function* (
    { durationMs, ...outcome }: FetchOutcome,
    { changed, manifest }: Fetched
  ) {
    const count = yield* warning.works
    const failed = count === 0 ? "" : ` after ${countText(count, "failure")}`
    const version = latestOf(manifest)
    const waits =
      manifest.held === undefined
        ? ""
        : manifest.held.byRule === undefined
          ? ` waits, because version ${manifest.versionId} is held`
          : " waits to be released"
    yield* (
      changed
        ? Effect.logInfo(
            `New version ${version}${waits}: ${countsText(outcome)}, fetched in ${secondsText(durationMs)}${failed}`
          )
        : count > 0 && outcome.kept === undefined
          ? Effect.logInfo(`Fetching works again${failed}; nothing has changed since version ${version}`)
          : Effect.logDebug(`Nothing has changed since version ${version}`)
    ).pipe(Effect.annotateLogs({ version, durationMs, records: outcome.records }))
  })

  /** Logs which sources begin to fail while others do not, and which work again. */
  const logKept = ({ sources }: ContentState, kept: FetchOutcome["kept"] = []) =>
    Effect.forEach(Object.entries(sources), ([id, { failing }]) => {
      const fails = kept.find(({ sourceId }) => sourceId === id)
      return fails === undefined
        ? Effect.when(Effect.logInfo(`Source "${id}" works again`), () => failing !== undefined)
        : Effect.when(
            Effect.logWarning(`Source "${id}" failed, its content stays as it is. ${fails.message}`),
            () => failing === undefined && mode !== "task"
          )
    })

  const reportError = (error: unknown) =>
    Effect.flatMap(timestamp, (timestamp) =>
      report({ name: "content:fetch:error", payload: { timestamp, error: serializeError(error) } })
    )

  /** Logs a repeated failure once until a fetch succeeds. The failure of a task is in its result. */
  const logFailed = (error: FetchError) => {
    const text = `${violationsOf(error) === undefined ? "Fetch failed" : "Version rejected"}, content stays as it is. ${messageOf(error)}`
    const isFirst =
      mode === "task" ? Effect.succeed(false) : warning.fails(text, `${originOf(error)} ${kindOf(error)}`)
    return Effect.asVoid(Effect.unlessEffect(Effect.logDebug(text), isFirst))
  }

  const run = Effect.fnUntraced(function* (fetch: Effect.Effect<Fetched, FetchError>) {
    yield* report({ name: "content:fetch:start", payload: { timestamp: yield* timestamp } })
    const [duration, fetched] = yield* Effect.timed(fetch)
    const { kept = [], manifest } = fetched
    const counts = sumCounts([fetched])
    const changed = fetched.changed && manifest.held === undefined
    const { held, versionId } = yield* activeVersion.report(manifest)
    const outcome: FetchOutcome = {
      timestamp: yield* timestamp,
      changed,
      versionId,
      held,
      ...counts,
      kept: kept.length > 0 ? kept : undefined,
      durationMs: Math.round(Duration.toMillis(duration))
    }
    yield* logDone(outcome, fetched)
    yield* logKept(yield* slice.get, outcome.kept)
    // A held version does not have the sources that are new since.
    yield* slice.note((state) => {
      const others = manifest.held === undefined ? [] : Object.keys(state.sources)
      return withSources([...others, ...manifest.sources.map(({ sourceId }) => sourceId)])(state)
    })
    yield* report({ name: "content:fetch:done", payload: outcome })
    yield* Effect.annotateCurrentSpan({ changed, versionId, records: counts.records })
    return outcome
  })

  return {
    /** Runs a fetch, and reports its beginning and its end. */
    reported: (fetch: Effect.Effect<Fetched, FetchError>) =>
      run(fetch).pipe(
        countFetch,
        Effect.tapError((error) => Effect.zipRight(logFailed(error), reportError(error))),
        // The content logs a defect.
        Effect.tapDefect((cause) => reportError(Cause.squash(cause))),
        Effect.withSpan("Content.fetch")
      ),

    /** Whether the last fetch failed in the same way. The failure is then counted, and should not be reported again. */
    repeats: Effect.fnUntraced(function* (error: FetchError) {
      const isSame = errorOf(yield* slice.get)?.message === serializeError(error).message
      yield* Effect.when(logFailed(error), () => isSame)
      return isSame
    })
  }
})

/** Identifies failures of the same kind: the same origin, transient or not, rejected or not. */
const originOf = (error: FetchError): string => {
  switch (error._tag) {
    case "vitrine/SourceError":
      return `${error.source} ${error.isTransient} ${error.violations !== undefined}`
    case "vitrine/CopyFailed":
      return `${error.from} ${error.isTransient}`
    case "vitrine/VersionStoreError":
      return `${error.isTransient}`
  }
}
