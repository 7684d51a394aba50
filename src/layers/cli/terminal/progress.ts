/**
 * Shows the progress of a fetch: one line on a terminal, lines of the log elsewhere.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Number from "effect/Number"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { outcomeText, progressText } from "../../../internal/contentCounts.ts"
import { printableLine } from "../../../internal/printable.ts"
import { ContentEvent } from "../../../services/ContentEvents.ts"
import type { SourceProgress } from "../../../services/ContentSource.ts"
import type { BusEvent } from "../../../services/EventBus.ts"
import type { Output } from "./liveText.ts"

export interface ProgressDisplay {
  readonly show: (event: ContentEvent) => Effect.Effect<void>
  /** Writes a line of the log without mixing it with the progress line. */
  readonly log: (line: string) => void
}

/** Shows progress on standard error until the scope ends. */
export const makeProgressDisplay: Effect.Effect<ProgressDisplay, never, Scope.Scope> = Effect.suspend(() =>
  process.stderr.isTTY && process.env.TERM !== "dumb"
    ? makeProgressLine(process.stderr)
    : Effect.map(makeProgressLines, (show) => ({ show, log: console.error }))
)

/** Runs the task that fetches, and shows its progress from the events. */
export const withProgress =
  (
    { show }: Pick<ProgressDisplay, "show">,
    events: Stream.Stream<Pick<BusEvent, "name" | "payload">, unknown>
  ) =>
  <A, E, R>(task: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Scope.Scope> =>
    Effect.gen(function* () {
      const showing = yield* events.pipe(
        Stream.filterMap((event) => decode(event)),
        Stream.tap(show),
        Stream.takeUntil(({ name }) => name === "content:fetch:done" || name === "content:fetch:error"),
        Stream.runDrain,
        Effect.ignore,
        Effect.forkScoped
      )
      const exit = yield* Effect.exit(task)
      // The last events may still arrive.
      yield* Effect.timeoutOption(Fiber.await(showing), "200 millis")
      return yield* exit
    })

const decode = Schema.decodeUnknownOption(ContentEvent)

/** A line that is replaced: a bar for all sources, and the current step of a source. The last state stays. */
export const makeProgressLine = Effect.fnUntraced(function* (stream: Output) {
  // Loaded here, because it is slow.
  const { default: wrapAnsi } = yield* Effect.promise(() => import("wrap-ansi"))
  const stages = new Map<string, Stage>()
  let text = ""

  /** Cuts the text before the last column: some terminals begin the next row after a character there. */
  const firstRow = (text: string): string =>
    wrapAnsi(text, (stream.columns || 80) - 1, { hard: true, trim: false, wordWrap: false }).split("\n")[0] ??
    ""

  const draw = () => {
    if (text !== "") stream.write(`${restart}${firstRow(`${barOf([...stages.values()])} ${text}`)}`)
  }

  const tell = (sourceId: string, stage: Stage, news: string) => {
    stages.set(sourceId, stage)
    text = printableLine(`${sourceId}: ${news}`)
    draw()
  }

  const show = ({ name, payload }: ContentEvent) => {
    const before = ("sourceId" in payload ? stages.get(payload.sourceId) : undefined) ?? beginning
    switch (name) {
      case "content:source:start":
        return tell(payload.sourceId, before, "starting")
      case "content:source:progress":
        return tell(payload.sourceId, stageOf(payload), progressText(payload))
      case "content:source:done":
        return tell(payload.sourceId, { ...before, done: before.total }, outcomeText(payload))
      case "content:source:error":
        return tell(payload.sourceId, before, "failed")
    }
  }

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      if (text !== "") stream.write("\n")
    })
  )
  return {
    show: (event) => Effect.sync(() => show(event)),
    log: (line) => {
      stream.write(`${restart}${line}\n`)
      draw()
    }
  } satisfies ProgressDisplay
})

/** Moves to the beginning of the line and clears it. */
const restart = "\r\u001b[K"

type Stage = SourceProgress["documents"]

const beginning: Stage = { done: 0, total: 1 }

/** Counts first the documents, then the files. */
const stageOf = ({ attachments, documents }: SourceProgress): Stage => attachments ?? documents

const barLength = 20

/** `█████░░░░░░░░░░░░░░░ 10/40` */
const barOf = (stages: ReadonlyArray<Stage>): string => {
  const done = Number.sumAll(stages.map(({ done }) => done))
  const total = Number.sumAll(stages.map(({ total }) => total))
  const length = total === 0 ? 0 : Math.round((barLength * Math.min(done, total)) / total)
  return `${"█".repeat(length)}${"░".repeat(barLength - length)} ${done}/${total}`
}

/** Milliseconds between two lines about a document if only its numbers have changed. */
const patience = 5000

/** A source with more documents, such as a copy of a thousand files, does not log each document. */
const fewDocuments = 20

/**
 * Logs a line when a source begins one of a few documents, with the result of the document before; when it waits longer than its
 * pace; when it is done or has failed; and every five seconds in between.
 */
export const makeProgressLines = Effect.sync(() => {
  const latest = new Map<string, SourceProgress>()
  const said = new Map<string, { readonly progress: SourceProgress; readonly at: number }>()

  /** The text for an event, if there is one. */
  const newsOf = (sourceId: string, progress: SourceProgress, now: number): string | undefined => {
    const before = latest.get(sourceId)
    const isFew = progress.documents.total <= fewDocuments
    if (isFew && before !== undefined && before.document !== progress.document) {
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
