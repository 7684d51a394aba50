/**
 * Actions of screens: `content.screen` requests an action, and the response to the screen's next ack delivers it.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { printableLine } from "../../internal/printable.ts"
import { type AckAnswer, type AskedScreen, askedForMs, UnknownScreen } from "../../services/AskedScreen.ts"
import type { ContentEvent } from "../../services/ContentEvents.ts"
import { ControllerState } from "../../services/ControllerState.ts"

/** The longest name, in characters. */
const maxName = 64

const actionTexts = { reload: "loads its page again", identify: "shows its name" } as const

export const makeScreenActions = Effect.fnUntraced(function* (
  content: string,
  report: (event: ContentEvent) => Effect.Effect<void>
) {
  const { read, state } = yield* ControllerState
  const { node, screens = [] } = (yield* state).system
  const waiting = yield* makeAskedScreens

  /** Requests an action. For the screen of a player, the hub's content server passes the event on. */
  const ask = Effect.fnUntraced(function* ({ action, by = "", screen }: AskedScreen) {
    const { players = [], screens } = (yield* read).view
    const own = screens.filter((screen) => screen.content === content).map(({ id }) => id)
    const ofPlayers = players.flatMap(({ id, lastReport }) =>
      (lastReport?.screens ?? []).map((screen) => `${id}/${screen.id}`)
    )
    const known = [...own, ...ofPlayers]
    if (!known.includes(screen)) {
      return yield* new UnknownScreen({ screen: printableLine(screen, maxName), known })
    }
    const name = printableLine(by, maxName)
    const asked: AskedScreen = { screen, action, ...(name === "" ? {} : { by: name }) }
    yield* own.includes(screen) ? waiting.add(asked) : Effect.void
    yield* Effect.logInfo(`Screen ${screen} is asked to ${action}${name === "" ? "" : ` by ${name}`}`)
    yield* report({ name: "content:screen:asked", payload: asked })
  })

  /** The response to an ack of a screen. Each action is delivered once. */
  const answer = Effect.fnUntraced(function* (screen: string): Effect.fn.Return<AckAnswer | null> {
    const asked = yield* waiting.take((id) => id === screen)
    if (asked.length === 0) {
      return null
    }
    const actions = asked.map(({ action }) => action)
    yield* Effect.logInfo(
      `Screen ${screen} ${actions.map((action) => actionTexts[action]).join(" and ")} now`
    )
    yield* report({ name: "content:screen:taken", payload: { screen, actions } })
    const name = screens.find(({ id }) => id === screen)?.label ?? screen
    const machine = node?.label ?? node?.id
    return { actions, label: machine === undefined ? name : `${machine}: ${name}` }
  })

  return { ask, answer }
})

const maxAsked = 256

interface Waiting {
  readonly asked: AskedScreen
  /** Monotonic time, in milliseconds. */
  readonly until: number
}

/**
 * The actions that screens are asked for and have not received yet. Memory is bounded: the newest 256 are kept, for two
 * minutes.
 */
export const makeAskedScreens = Effect.map(Ref.make<ReadonlyArray<Waiting>>([]), (waiting) => ({
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
