/**
 * The slice of a content in the state, its events and its metrics. An event first changes the slice, then it is
 * published. The metrics add up all controllers of the process.
 */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import { clockStep, makeSteadyNow, movedTime, type Now } from "../../internal/monotonicMillis.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { ContentEvent, FetchOutcome } from "../../services/ContentEvents.ts"
import {
  ControllerState,
  type PluginRegistration,
  type RegisteredPlugin
} from "../../services/ControllerState.ts"
import { EventBus } from "../../services/EventBus.ts"
import type { ContentState, Screen, SourceState } from "../../services/Slices.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { makeOldInActive, oldIn } from "../versions/sourceNotes.ts"
import type { Provider, Report } from "./Provider.ts"

export const makeSlice = Effect.fnUntraced(function* (name: string) {
  const { register } = yield* ControllerState
  const steadyNow = makeSteadyNow()
  let content = initial
  let registered: RegisteredPlugin<ContentState> | undefined
  // Reads the content in the step that writes it: another source may have reported meanwhile.
  const publishedNow = () => {
    const { isPolling, nextFetch, ...published } = content
    return published
  }
  /** When the clock was set last, or was first read. */
  let setAt: Now | undefined
  /** When the content last changed, in monotonic milliseconds. */
  let changedAt = 0
  /** If somebody has set the clock, the times of fetches are set with it. */
  const follow = (now: Now) => {
    setAt ??= now
    const step = clockStep(setAt, now)
    if (step === 0) return
    content = moved(content, step)
    setAt = now
  }
  const note = (change: (before: ContentState) => ContentState) =>
    Effect.map(steadyNow, (now) => {
      follow(now)
      content = change(content)
      changedAt = now.monotonic
    })
  return {
    get: Effect.map(steadyNow, (now) => {
      follow(now)
      const isBusy = content.fetchingSince !== undefined || content.isPolling === true
      const quietSince = new Date(now.wall - now.monotonic + changedAt).toISOString()
      return isBusy ? { ...content, quietSince } : content
    }),
    update: (change: (before: ContentState) => ContentState) =>
      Effect.zipRight(
        note(change),
        Effect.suspend(() => registered?.update(publishedNow) ?? Effect.void)
      ),
    /** Shows the slice in the state until the scope ends. */
    show: (plugin: Pick<PluginRegistration, "live" | "report">) =>
      Effect.map(register({ name, slice: publishedNow(), ...plugin }), (plugin) => {
        registered = plugin
      }),
    /** As `update`, for fields that change all the time: `_version` does not grow. */
    note
  }
})

const moved = (content: ContentState, millis: number): ContentState => {
  const time = (at: string | undefined) => at && movedTime(at, millis)
  const began = <A extends { readonly since: string }>(trouble: A | undefined) =>
    trouble && { ...trouble, since: time(trouble.since) ?? "" }
  const event = <A extends { readonly timestamp: string }>(last: A | undefined) =>
    last && { ...last, timestamp: movedTime(last.timestamp, millis) }
  return {
    ...content,
    failingSince: time(content.failingSince),
    fetchingSince: time(content.fetchingSince),
    lastFetch: event(content.lastFetch),
    lastSuccess: time(content.lastSuccess),
    rejection: began(content.rejection),
    sources: Record.map(content.sources, (source) => ({
      ...source,
      failing: began(source.failing),
      fetchingSince: time(source.fetchingSince),
      lastError: event(source.lastError),
      lastSuccess: event(source.lastSuccess)
    }))
  }
}

export type ContentSlice = Effect.Effect.Success<ReturnType<typeof makeSlice>>

/** The error of the last fetch, if it failed. */
export const errorOf = ({ lastFetch }: ContentState) =>
  lastFetch !== undefined && "error" in lastFetch ? lastFetch.error : undefined

/** Gives the fields of the slice that change all the time. */
export const makeMomentary = (
  slice: ContentSlice,
  {
    hub = Effect.succeed({}),
    notes,
    sourceData = Effect.succeed({})
  }: Pick<Provider, "hub" | "notes" | "sourceData">,
  screens: Effect.Effect<ReadonlyArray<Screen>>
) =>
  Effect.map(VersionStore, (store) => {
    const unread = makeWarnWhile((message) => message)
    const known = Ref.unsafeMake<Pick<ContentState, "versions">>({})
    const versions = store.versions.pipe(
      Effect.zipLeft(unread.works),
      Effect.flatMap((versions) => Ref.updateAndGet(known, () => ({ versions }))),
      Effect.catchAll(({ message }) => Effect.zipRight(unread.fails(message), Ref.get(known)))
    )
    const oldInActive = makeOldInActive(store, notes)
    return Effect.gen(function* () {
      const { nextFetch, sources, ...state } = yield* slice.get
      const now = yield* timestamp
      const data = yield* sourceData
      return {
        ...state,
        // If the clock was set forward, or the machine slept, the planned time may be past before the fetch begins.
        nextFetch: nextFetch && { ...nextFetch, at: later(nextFetch.at, now) },
        sources: Record.map(sources, (source, id) => ({
          ...source,
          data: Object.hasOwn(data, id) ? data[id] : undefined
        })),
        ...(yield* versions),
        ...(yield* oldInActive(state)),
        screens: yield* screens,
        ...(yield* hub)
      } satisfies ContentState
    })
  })

/** The sources of a version whose content is old, as a field; no field if there are none. */
export const keptInVersion = (store: VersionStore["Type"], versionId: string) =>
  Effect.flatMap(Effect.option(store.summarize(versionId)), (found) =>
    oldIn(
      store,
      versionId,
      Option.match(Option.flatten(found), { onNone: () => [], onSome: ({ sources }) => sources })
    )
  )

const later = (one: string, other: string): string => (one > other ? one : other)

export const initial: ContentState = { kind: "content", sources: {} }

/** Keeps exactly these sources. */
export const withSources =
  (ids: ReadonlyArray<string>) =>
  (state: ContentState): ContentState => ({
    ...state,
    sources: Object.fromEntries(ids.map((id) => [id, sourceIn(state, id)]))
  })

export const applyEvent = (state: ContentState, { name, payload }: ContentEvent): ContentState => {
  switch (name) {
    case "content:page:built":
    case "content:screen:asked":
    case "content:screen:taken":
    case "content:version:promoted":
    case "content:version:compared":
      return state
    case "content:version:rejected": {
      const { sourceId, timestamp, violations } = payload
      return {
        ...state,
        rejection: {
          since: state.rejection?.sourceId === sourceId ? state.rejection.since : timestamp,
          sourceId,
          violations
        }
      }
    }
    case "content:fetch:start":
      return { ...state, fetchingSince: payload.timestamp }
    case "content:fetch:done": {
      const { failingSince, rejection, sources, ...succeeded } = ended(state)
      const { kept = [], timestamp } = payload
      const failingOf = (id: string) => kept.find(({ sourceId }) => sourceId === id)
      return {
        ...succeeded,
        rejection: rejection && failingOf(rejection.sourceId) && rejection,
        sources: Record.map(sources, ({ failing: before, ...source }, id) => {
          const failing = failingOf(id)
          // The time before is right also if somebody has set the clock since.
          return { ...source, failing: failing && { ...failing, since: before?.since || failing.since } }
        }),
        lastFetch: payload,
        lastSuccess: kept.length === 0 ? timestamp : succeeded.lastSuccess
      }
    }
    case "content:fetch:error":
      return {
        ...ended(state),
        lastFetch: payload,
        failingSince: state.failingSince ?? payload.timestamp
      }
    case "content:source:start":
      return withSource(state, payload.sourceId, (source) => ({
        ...idle(source),
        fetchingSince: payload.timestamp
      }))
    case "content:source:progress": {
      const { sourceId, ...progress } = payload
      return withSource(state, sourceId, (source) => ({ ...source, progress }))
    }
    case "content:source:done":
      return withSource(state, payload.sourceId, (source) => ({ ...idle(source), lastSuccess: payload }))
    case "content:source:error": {
      const { error, sourceId, timestamp } = payload
      const lastError = { timestamp, message: error.message }
      return withSource(state, sourceId, (source) => ({ ...idle(source), lastError }))
    }
  }
}

/** Whether `_version` grows. Progress, which comes with every page of a table, does not count. */
export const isChange = ({ name }: ContentEvent): boolean =>
  name.startsWith("content:fetch:") || name === "content:source:done" || name === "content:source:error"

/** A source may be called `constructor`, so only own properties count. */
const sourceIn = ({ sources }: ContentState, id: string): SourceState =>
  Object.hasOwn(sources, id) ? (sources[id] ?? {}) : {}

const withSource = (
  state: ContentState,
  id: string,
  change: (source: SourceState) => SourceState
): ContentState => ({ ...state, sources: { ...state.sources, [id]: change(sourceIn(state, id)) } })

const idle = ({ fetchingSince, progress, ...source }: SourceState): SourceState => source

/**
 * Ends the progress of all sources: a source that was interrupted because another one failed reports nothing itself.
 */
const ended = ({ fetchingSince, sources, ...state }: ContentState): ContentState => ({
  ...state,
  sources: Object.fromEntries(Object.entries(sources).map(([id, source]) => [id, idle(source)]))
})

/** The present time in ISO 8601, UTC, with milliseconds. */
export const timestamp = Effect.map(DateTime.now, DateTime.formatIso)

/** Changes the slice of the content, then publishes the event. */
export const makeReport = (name: string, slice: ContentSlice) =>
  Effect.map(
    makePublish(name),
    (publish): Report =>
      (event) =>
        Effect.zipRight(
          (isChange(event) ? slice.update : slice.note)((before) => applyEvent(before, event)),
          publish(event)
        )
  )

/**
 * Publishes events under the name of the content. A failure of the bus is logged once; when the bus works again, the
 * active version is announced again. Versions are announced one at a time, the newest last.
 */
const makePublish = Effect.fnUntraced(function* (contentName: string) {
  const bus = yield* EventBus
  const unannounced = yield* Ref.make(Option.none<ContentEvent>())
  const announcing = yield* Effect.makeSemaphore(1)
  const warning = makeWarnWhile(
    (message) => `${message}. Clients learn of new versions from the manifest only, until it works again.`
  )

  /** Gives whether the bus accepted the event. */
  const publish = (event: ContentEvent) =>
    Effect.matchCauseEffect(bus.publish(event.name.replace("content", contentName), event.payload), {
      onFailure: (cause) => Effect.as(warning.fails(messageOf(Cause.squash(cause))), false),
      onSuccess: () => Effect.as(warning.works, true)
    })

  /** Keeps the version as unannounced until the bus accepts it, also after an interruption. */
  const announce = Effect.gen(function* () {
    const version = yield* Ref.get(unannounced)
    if (Option.isSome(version) && (yield* publish(version.value))) {
      yield* Ref.update(unannounced, (now) => (now === version ? Option.none() : now))
    }
  }).pipe(announcing.withPermits(1))

  return (event: ContentEvent) =>
    event.name === "content:version:promoted"
      ? Effect.zipRight(Ref.set(unannounced, Option.some(event)), announce)
      : Effect.asVoid(Effect.whenEffect(announce, publish(event)))
})

const fetches = Metric.counter("vitrine_content_fetches_total", {
  description: "Ended fetches of all sources, by outcome: promoted, unchanged or failed",
  incremental: true
})

const lastSuccess = Metric.gauge("vitrine_content_last_success_timestamp_seconds", {
  description: "When a fetch last succeeded, as Unix time; 0 before the first"
}).pipe(Metric.tagged("unit", "s"))

const promotions = Metric.counter("vitrine_content_promotions_total", {
  description: "Versions that became active",
  incremental: true
})

const records = Metric.gauge("vitrine_content_records", {
  description: "Records that the source had when it was last fetched"
})

const versions = Metric.gauge("vitrine_content_versions", { description: "Versions on disk" })

/** Counts an activated version. */
export const countPromotion = Metric.increment(promotions)

/** Counts a fetch when it ends; an interrupted fetch does not count. */
export const countFetch = <E, R>(fetch: Effect.Effect<FetchOutcome, E, R>) =>
  fetch.pipe(
    Effect.tap(({ changed, kept, timestamp }) =>
      Effect.all([
        count(changed ? "promoted" : "unchanged"),
        kept === undefined ? Metric.set(lastSuccess, Date.parse(timestamp) / 1000) : Effect.void
      ])
    ),
    Effect.tapErrorCause((cause) => (Cause.isInterruptedOnly(cause) ? Effect.void : count("failed")))
  )

const outcomes = ["promoted", "unchanged", "failed"] as const

const ofOutcome = (outcome: (typeof outcomes)[number]) => Metric.tagged(fetches, "outcome", outcome)

const count = (outcome: (typeof outcomes)[number]) => Metric.increment(ofOutcome(outcome))

/** Starts the counts at 0 before the first fetch: an alert on a missing number never fires. */
export const beginCounts = Effect.all([
  ...outcomes.map((outcome) => Metric.incrementBy(ofOutcome(outcome), 0)),
  Metric.incrementBy(lastSuccess, 0)
])

export const setRecords = (source: string, count: number) =>
  Metric.set(Metric.tagged(records, "source", source), count)

export const countVersions = (store: VersionStore["Type"]) =>
  Effect.flatMap(store.versions, ({ length }) => Metric.set(versions, length))
