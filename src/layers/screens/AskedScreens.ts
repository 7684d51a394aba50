/**
 * The actions that screens are asked for and have not received yet. Memory is bounded: the newest 256 are kept, for two
 * minutes.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { type AskedScreen, askedForMs } from "../../services/ScreenActions.ts"

const maxAsked = 256

interface Waiting {
  readonly asked: AskedScreen
  /** Monotonic time, in milliseconds. */
  readonly until: number
}

export const make = Effect.map(Ref.make<ReadonlyArray<Waiting>>([]), (waiting) => ({
  /** Adds an action. Replaces an earlier request for the same action of the same screen. */
  add: (asked: AskedScreen) =>
    Effect.flatMap(monotonicMillis, (now) =>
      Ref.update(waiting, (before) =>
        [
          ...before.filter(
            ({ asked: { action, screen } }) => action !== asked.action || screen !== asked.screen
          ),
          { asked, until: now + askedForMs }
        ].slice(-maxAsked)
      )
    ),
  /** Removes and returns up to `most` actions for these screens. */
  take: (isFor: (screen: string) => boolean, most = maxAsked) =>
    Effect.flatMap(monotonicMillis, (now) =>
      Ref.modify(waiting, (before) => {
        const [others, found] = Array.partition(
          before.filter(({ until }) => now < until),
          ({ asked }) => isFor(asked.screen)
        )
        return [found.slice(0, most).map(({ asked }) => asked), [...others, ...found.slice(most)]]
      })
    )
}))
