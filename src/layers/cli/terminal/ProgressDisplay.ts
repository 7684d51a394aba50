/**
 * Shows a fetch of the content while it runs: bars on a terminal, lines elsewhere.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ContentEvent } from "../../../services/ContentEvents.ts"
import type { BusEvent } from "../../../services/EventBus.ts"
import { makeProgressBars } from "./progressBars.ts"
import { makeProgressLines } from "./progressLines.ts"

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
  ({ show }: Pick<ProgressDisplay, "show">, events: Stream.Stream<Pick<BusEvent, "name" | "payload">>) =>
  <A, E, R>(task: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Scope.Scope> =>
    Effect.gen(function* () {
      const showing = yield* events.pipe(
        Stream.filterMap((event) => decode(event)),
        Stream.tap(show),
        Stream.takeUntil(({ name }) => name === "content:fetch:done" || name === "content:fetch:error"),
        Stream.runDrain,
        Effect.forkScoped
      )
      const exit = yield* Effect.exit(task)
      // What was told last may be on its way still.
      yield* Effect.timeoutOption(Fiber.await(showing), "200 millis")
      return yield* exit
    })

const decode = Schema.decodeUnknownOption(ContentEvent)
