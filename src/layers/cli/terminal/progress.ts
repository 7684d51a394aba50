/**
 * Shows a fetch of the content while it runs: bars on a terminal, lines of the log elsewhere.
 */
import { MultiBar, Presets, type SingleBar } from "cli-progress"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { printableLine } from "../../../internal/printable.ts"
import { outcomeText, progressText } from "../../../internal/progressText.ts"
import { ContentEvent } from "../../../services/ContentEvents.ts"
import type { SourceProgress } from "../../../services/ContentSource.ts"
import type { BusEvent } from "../../../services/EventBus.ts"

export interface ProgressDisplay {
  readonly show: (event: ContentEvent) => Effect.Effect<void>
  /** Writes a line of the log where it does not run into what is shown. */
  readonly log: (line: string) => void
}

/** For standard error; it ends with the scope. */
export const makeProgressDisplay: Effect.Effect<ProgressDisplay, never, Scope.Scope> = Effect.suspend(() =>
  process.stderr.isTTY && process.env.TERM !== "dumb"
    ? makeProgressBars(process.stderr)
    : Effect.map(makeProgressLines, (show) => ({ show, log: console.error }))
)

/** Carries out the task that fetches, and shows what the events tell of it. */
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
      // The last progress may still be on its way.
      yield* Effect.timeoutOption(Fiber.await(showing), "200 millis")
      return yield* exit
    })

const decode = Schema.decodeUnknownOption(ContentEvent)

/** One for each source. */
const makeProgressBars = (stream: NodeJS.WriteStream) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => openBars(stream)),
      close
    ),
    ({ bars, multiBar }) => {
      const barOf = (source: string): SingleBar => {
        const bar =
          bars.get(source) ??
          multiBar.create(1, 0, { source: printableLine(source).padEnd(12), text: "starting" })
        bars.set(source, bar)
        return bar
      }

      const draw = ({ name, payload }: ContentEvent) => {
        switch (name) {
          case "content:source:start":
            barOf(payload.sourceId)
            break
          case "content:source:progress": {
            const bar = barOf(payload.sourceId)
            const { done, total } = stageOf(payload)
            bar.setTotal(Math.max(total, 1))
            bar.update(done, { text: printableLine(progressText(payload)) })
            break
          }
          case "content:source:done": {
            const bar = barOf(payload.sourceId)
            bar.update(bar.getTotal(), { text: outcomeText(payload) })
            break
          }
          case "content:source:error":
            barOf(payload.sourceId).update({ text: "failed" })
        }
      }

      return {
        show: (event: ContentEvent) => Effect.sync(() => draw(event)),
        log: (line: string) => (bars.size === 0 ? console.error(line) : multiBar.log(`${line}\n`))
      }
    }
  )

const openBars = (stream: NodeJS.WriteStream) => {
  const multiBar = new MultiBar(
    { stream, format: "{source} {bar} {text}", barsize: 20, hideCursor: true, forceRedraw: true },
    Presets.shades_classic
  )
  return { multiBar, bars: new Map<string, SingleBar>() }
}

/** Leaves the last state of the bars on the terminal, below all lines of the log. */
const close = ({ bars, multiBar }: ReturnType<typeof openBars>) =>
  Effect.sync(() => {
    if (bars.size > 0) {
      multiBar.update()
      multiBar.stop()
    }
  })

/** First the documents, then the files. */
const stageOf = ({ attachments, documents }: SourceProgress) => attachments ?? documents

/** Milliseconds between two lines about one document where nothing but its numbers has changed. */
const patience = 5000

/**
 * A line when a source begins with a document, which tells what came of the one before, when it rests for longer than
 * its pace, is done or has failed, and one every five seconds in between.
 */
export const makeProgressLines = Effect.sync(() => {
  const latest = new Map<string, SourceProgress>()
  const said = new Map<string, { readonly progress: SourceProgress; readonly at: number }>()

  /** The text for an event, if there is one. */
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
