/**
 * Actions that screens are asked for: `content.screen` takes them, and the next ack of the screen is answered with them.
 */
import * as Effect from "effect/Effect"
import { printableLine } from "../../internal/printable.ts"
import type { ContentEvent } from "../../services/ContentEvents.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { type AckAnswer, type AskedScreen, UnknownScreen } from "../../services/ScreenActions.ts"
import * as AskedScreens from "./AskedScreens.ts"

/** Characters of a name. */
const maxName = 64

export const makeScreenActions = Effect.fnUntraced(function* (
  content: string,
  report: (event: ContentEvent) => Effect.Effect<void>
) {
  const { read, state } = yield* ControllerState
  const { node, screens = [] } = (yield* state).system
  const waiting = yield* AskedScreens.make

  /** A screen of a player is its hub's to ask, which hears of it by the event. */
  const ask = Effect.fnUntraced(function* ({ action, by = "", screen }: AskedScreen) {
    const { players = [], screens } = (yield* read).view
    const own = screens.filter((screen) => screen.content === content).map(({ id }) => id)
    const ofPlayers = players.flatMap(({ id, said }) =>
      (said?.screens ?? []).map((screen) => `${id}/${screen.id}`)
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

  /** What the ack of a screen is answered: each action once. */
  const answer = Effect.fnUntraced(function* (screen: string): Effect.fn.Return<AckAnswer | undefined> {
    const asked = yield* waiting.take((id) => id === screen)
    if (asked.length === 0) {
      return undefined
    }
    const actions = asked.map(({ action }) => action)
    yield* Effect.logInfo(`Screen ${screen} has been given what it is asked for: ${actions.join(", ")}`)
    yield* report({ name: "content:screen:taken", payload: { screen, actions } })
    const name = screens.find(({ id }) => id === screen)?.label ?? screen
    const machine = node?.label ?? node?.id
    return { actions, label: machine === undefined ? name : `${machine}: ${name}` }
  })

  return { ask, answer }
})
