/**
 * Actions of screens: `content.screen` requests an action, and the response to the screen's next ack delivers it. A
 * response may get lost, so the action is delivered again until an ack confirms it.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { printableLine } from "../../internal/printable.ts"
import { type AckAnswer, type AskedScreen, askedForMs, UnknownScreen } from "../../services/AskedScreen.ts"
import type { ContentEvent } from "../../services/ContentEvents.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { AckDetails } from "../../services/VersionStore.ts"
import type { View } from "../../services/View.ts"

/** The longest name, in characters. */
const maxName = 64

interface Details extends Pick<AckDetails, "closing" | "runId"> {
  /** The ids of the actions that the screen confirms; missing if it confirms none. */
  readonly done: ReadonlyArray<string> | undefined
}

const actionTexts = { reload: "loads its page again", identify: "shows its name" } as const

export const makeScreenActions = Effect.fnUntraced(function* (
  content: string,
  report: (event: ContentEvent) => Effect.Effect<void>
) {
  const { read, state } = yield* ControllerState
  const { node, screens = [] } = (yield* state).system
  const waiting = yield* makeAskedScreens<AskedScreen>()

  /** Requests an action. For the screen of a player, the hub's content server passes the event on. */
  const ask = Effect.fnUntraced(function* ({ action, by = "", screen }: AskedScreen) {
    const { players = [], screens } = (yield* read).view
    const own = screens.filter((screen) => screen.content === content)
    const known = screensToAsk({ players, screens: own })
    if (!known.includes(screen)) {
      return yield* new UnknownScreen({ screen: printableLine(screen, maxName), known })
    }
    const name = printableLine(by, maxName)
    const asked: AskedScreen = { screen, action, by: name || undefined }
    yield* own.some(({ id }) => id === screen) ? waiting.add(asked) : Effect.void
    yield* Effect.logInfo(`Screen ${screen} is asked to ${action}${name === "" ? "" : ` by ${name}`}`)
    yield* report({ name: "content:screen:asked", payload: asked })
  })

  /** The response to an ack of a screen. The event is published even if the client leaves meanwhile. */
  const answer = Effect.fnUntraced(function* (
    screen: string,
    { closing, done, runId }: Details
  ): Effect.fn.Return<AckAnswer | null> {
    const { given, removed } = yield* waiting.take((id) => id === screen, {
      done,
      // Pages of an older client have a run, and carry out an action as often as they get it.
      times: done === undefined && runId !== undefined ? 1 : maxTimes,
      most: closing === true ? 0 : maxAsked
    })
    if (removed.length > 0) {
      const actions = removed.map(({ action }) => action)
      yield* Effect.logInfo(
        `Screen ${screen} ${actions.map((action) => actionTexts[action]).join(" and ")} now`
      )
      yield* report({ name: "content:screen:taken", payload: { screen, actions } })
    }
    if (given.length === 0) {
      return null
    }
    const name = screens.find(({ id }) => id === screen)?.label ?? screen
    const machine = node?.label ?? node?.id
    return {
      actions: given.map(({ asked }) => asked.action),
      ids: given.map(({ id }) => id),
      label: machine === undefined ? name : `${machine}: ${name}`
    }
  }, Effect.uninterruptible)

  return { ask, answer }
})

/** The screens that can be asked: of this machine, and of its players as `PLAYER/SCREEN`. */
export const screensToAsk = ({
  players = [],
  screens
}: Pick<View, "players" | "screens">): ReadonlyArray<string> => [
  ...screens.map(({ id }) => id),
  ...players.flatMap(({ id, lastReport }) =>
    (lastReport?.screens ?? []).map((screen) => `${id}/${screen.id}`)
  )
]

const maxAsked = 256

/** How often an action is delivered that is not confirmed. */
export const maxTimes = 3

interface Waiting<Asked> {
  readonly id: string
  readonly asked: Asked
  /** How often it was delivered. */
  readonly times: number
  /** Monotonic time, in milliseconds. */
  readonly until: number
}

export interface Taking extends Pick<Details, "done"> {
  readonly most: number
  readonly times: number
}

/**
 * The actions that screens are asked for and have not confirmed yet. Memory is bounded: the newest 256 are kept, for two
 * minutes.
 */
export const makeAskedScreens = <Asked extends AskedScreen>() =>
  Effect.map(Ref.make<ReadonlyArray<Waiting<Asked>>>([]), (waiting) => ({
    /** Adds an action. Replaces an earlier request for the same action of the same screen. */
    add: (asked: Asked) =>
      Effect.flatMap(monotonicMillis, (now) =>
        Ref.update(waiting, (before) =>
          [
            ...before.filter(
              ({ asked: { action, screen } }) => action !== asked.action || screen !== asked.screen
            ),
            // Unique, because a page still names actions of an earlier controller.
            { id: crypto.randomUUID(), asked, times: 0, until: now + askedForMs }
          ].slice(-maxAsked)
        )
      ),
    /**
     * Delivers up to `most` actions for these screens, each up to `times` times. Removes the actions that are `done`. Without `done`,
     * nothing is confirmed, so an action is removed when it is delivered for the last time.
     */
    take: (isFor: (screen: string) => boolean, { done, most, times }: Taking) =>
      Effect.flatMap(monotonicMillis, (now) =>
        Ref.modify(waiting, (before) => {
          const [others, found] = Array.partition(
            before.filter(({ until }) => now < until),
            ({ asked }) => isFor(asked.screen)
          )
          const [open, confirmed] = Array.partition(found, ({ id }) => done?.includes(id) === true)
          const [spent, left] = Array.partition(open, (one) => one.times < times)
          const given = left.slice(0, most).map((one) => ({ ...one, times: one.times + 1 }))
          const [kept, last] = Array.partition(given, (one) => done === undefined && one.times >= times)
          return [
            { given, removed: [...confirmed, ...last].map(({ asked }) => asked) },
            [...others, ...spent, ...left.slice(most), ...kept]
          ]
        })
      )
  }))
