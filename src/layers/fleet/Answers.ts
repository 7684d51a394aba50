/**
 * The answers of a hub to the reports of players: the actions that people ask of their screens, and the pictures that are wanted.
 */
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { vitrineVersion } from "../../internal/machine.ts"
import { AskedScreen } from "../../services/AskedScreen.ts"
import { EventBus } from "../../services/EventBus.ts"
import type { PlayerReport, ReportAnswer } from "../../services/PlayerReport.ts"
import { ScreenPictures, type WantedPicture } from "../../services/ScreenPictures.ts"
import * as Subscription from "../fanOut/Subscription.ts"
import { makeAskedScreens, maxTimes } from "../screens/screenActions.ts"

type Answers = Effect.Effect.Success<typeof make>

interface AskedOfPlayer extends AskedScreen {
  /** The content whose command asked for it. */
  readonly content: string
}

const askedSuffix = ":screen:asked"

const isAsked = Schema.is(AskedScreen)

/** The most actions and pictures in one answer, of which players read 8 KiB, older ones 4 KiB. Others come in the next answer. */
const maxActions = 6
const maxPictures = 8

/** How many numbers of pictures are remembered: as many as can be wanted. */
const maxNumbers = 256

/** Remembers what is asked of screens of players until the scope ends. */
export const make = Effect.gen(function* () {
  const { publish } = yield* EventBus
  const pictures = yield* ScreenPictures
  const asked = yield* makeAskedScreens<AskedOfPlayer>()
  const { feeds } = yield* Subscription.make("The feed of screen actions for players")
  yield* Stream.flatMap(feeds, ({ events }) => events).pipe(
    // Events of all contents count: people name a screen of a player, and not the content that it shows.
    Stream.filter(({ name }) => name.endsWith(askedSuffix)),
    Stream.runForEach(({ name, payload }) =>
      isAsked(payload) ? asked.add({ ...payload, content: name.slice(0, -askedSuffix.length) }) : Effect.void
    ),
    Effect.forkScoped
  )
  return { asked, numbers: yield* Ref.make<ReadonlyArray<string>>([]), pictures, publish }
})

/** The answer to a report. */
export const answerTo = Effect.fnUntraced(function* (
  answers: Answers,
  player: string,
  done: PlayerReport["done"],
  watched: PlayerReport["watched"] = []
) {
  const actions = yield* takeActions(answers, `${player}/`, done)
  const pictures = yield* nextPictures(answers, `${player}/`, watched)
  return {
    vitrine: vitrineVersion,
    actions: actions.length === 0 ? undefined : actions,
    pictures: pictures.length === 0 ? undefined : pictures
  } satisfies ReportAnswer
})

/** The actions for the screens of a player, which get them until it confirms that its screen has received them. */
const takeActions = Effect.fnUntraced(function* (
  { asked, publish }: Answers,
  prefix: string,
  done: PlayerReport["done"]
) {
  const { given, removed } = yield* asked.take((screen) => screen.startsWith(prefix), {
    done,
    most: maxActions,
    times: done === undefined ? 1 : maxTimes
  })
  yield* Effect.forEach(
    removed,
    ({ action, content, screen }) =>
      publish(`${content}:screen:taken`, { screen, actions: [action] }).pipe(
        Effect.catchAll(({ message }) => Effect.logWarning(message))
      ),
    { discard: true }
  )
  return given.map(({ asked: { content: _, ...asked }, id }) => ({
    ...asked,
    id,
    screen: asked.screen.slice(prefix.length)
  }))
})

/**
 * The pictures that are wanted of watched screens of a player, until they come: first those that no answer has asked for, then those of
 * the oldest answers.
 */
const nextPictures = Effect.fnUntraced(function* (
  { numbers, pictures }: Answers,
  prefix: string,
  watched: ReadonlyArray<string>
) {
  const wanted = yield* pictures.wantedNow(watched.map((screen) => prefix + screen))
  const next = yield* Ref.modify(numbers, (before) => {
    const next = wanted.toSorted(byTurn(before)).slice(0, maxPictures)
    const given = next.map(({ number }) => number)
    return [next, [...before.filter((number) => !given.includes(number)), ...given].slice(-maxNumbers)]
  })
  return next.map(({ number, screen }) => ({ screen: screen.slice(prefix.length), number }))
})

const byTurn = (before: ReadonlyArray<string>) =>
  Order.mapInput(Order.number, ({ number }: WantedPicture) => before.indexOf(number))
