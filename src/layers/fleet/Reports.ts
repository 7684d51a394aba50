/**
 * Receives the reports of players: the route of a hub, and the state of its players.
 */

import { join, resolve } from "node:path"
import { gunzipSync } from "node:zlib"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import type * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as JsonFile from "../../files/JsonFile.ts"
import { endWithin } from "../../internal/background.ts"
import { vitrineVersion } from "../../internal/machine.ts"
import { unsafeMonotonicMillis } from "../../internal/monotonicMillis.ts"
import { issueText, placedIssues } from "../../internal/Options.ts"
import { errorCode } from "../../internal/serializeError.ts"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import { AskedScreen } from "../../services/AskedScreen.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { EventBus } from "../../services/EventBus.ts"
import { maxReportBytes, Player, PlayerReport, type ReportAnswer } from "../../services/PlayerReport.ts"
import { ScreenPictures, type WantedPicture } from "../../services/ScreenPictures.ts"
import * as Subscription from "../fanOut/Subscription.ts"
import { isJson, tokenCheck } from "../http/Access.ts"
import { BadRequest, type BodyTooLarge, bodyTooLarge, jsonRequired, tokenRequired } from "../http/errors.ts"
import { take as takePicture } from "../http/pictureBody.ts"
import * as RequestBody from "../http/RequestBody.ts"
import { json } from "../http/Responses.ts"
import { codingsOf } from "../httpClient/Body.ts"
import { charsetOf, decodeText } from "../httpClient/headers.ts"
import { makeAskedScreens, maxTimes } from "../screens/screenActions.ts"
import { maxPlayers, moved, playersOf, type Registry, restored, take } from "./registry.ts"

export interface Options {
  readonly downloadPath: string
  readonly reports: { readonly token: Redacted.Redacted }
}

/** Restarts and duplicates are not kept: they are detected again after a restart of the hub. */
const KeptPlayer = Player.omit("duplicate", "restarts")

/** The largest file of players, in bytes. The largest reports of all players need less. */
const maxFileBytes = 2 * maxPlayers * maxReportBytes

/** The least time between two writes of the players. */
const saveEvery = "1 minute"

/**
 * The least change of the time of day that counts as a set clock, in milliseconds. Small corrections happen all the
 * time.
 */
const stepMs = 5000

/** How long the shutdown waits for the last write. */
const lastSave = "1 second"

/** Starts with the players that were saved last, and saves players until the scope ends. */
export const make = Effect.fnUntraced(function* ({ downloadPath, reports: { token } }: Options) {
  const file = yield* JsonFile.make(join(resolve(downloadPath), ".players.json"), KeptPlayer, {
    read: "players are listed once they report",
    written: "after a restart, players are listed once they report",
    maxBytes: maxFileBytes
  })
  const { system } = yield* (yield* ControllerState).state
  const expected = new Set((system.players ?? []).map(({ id }) => id))
  const isExpected = (id: string) => expected.has(id)
  const found = restored(yield* file.read, isExpected, yield* Clock.currentTimeMillis)
  const state = yield* Ref.make({ registry: found, last: timesOf(yield* Effect.clock) })
  const saved = yield* Ref.make(found)
  const warnOnce = makeWarnOnce((message) => message)
  const hasToken = tokenCheck(token)
  const pictures = yield* ScreenPictures

  /**
   * Changes the registry at the present time of day. If the clock was set, or this machine slept, no player counts as
   * silent for that time. The step that moves the players also reads the clocks: otherwise, another step could come in
   * between.
   */
  const modify = <A>(change: (registry: Registry, now: number) => readonly [A, Registry]) =>
    Effect.clockWith((clock) =>
      Ref.modify(state, ({ last, registry }) => {
        const now = timesOf(clock)
        const step = now.day - last.day - (now.monotonic - last.monotonic)
        const current = Math.abs(step) > stepMs ? moved(registry, step) : registry
        const [result, next] = change(current, now.day)
        return [result, { registry: next, last: now }] as const
      })
    )

  const players = modify((registry, now) => [playersOf(registry, isExpected, now), registry])

  // One save after the other: a delayed save must not overwrite the last one.
  const { withPermits } = yield* Effect.makeSemaphore(1)
  const save = Effect.gen(function* () {
    const { registry } = yield* Ref.get(state)
    if (registry !== (yield* Ref.get(saved)) && (yield* file.write(yield* players))) {
      yield* Ref.set(saved, registry)
    }
  }).pipe(withPermits(1), Effect.disconnect)
  yield* Effect.addFinalizer(() => endWithin(lastSave)(save))
  yield* save.pipe(Effect.schedule(Schedule.spaced(saveEvery)), Effect.forkScoped)

  const { publish } = yield* EventBus
  const asked = yield* makeAskedScreens<AskedOfPlayer>()
  const { feeds } = yield* Subscription.make("The feed of screen actions for players")
  yield* Stream.flatMap(feeds, ({ events }) => events).pipe(
    // Of any content: people name a screen of a player, but not which of several contents it shows.
    Stream.filter(({ name }) => name.endsWith(askedSuffix)),
    Stream.runForEach(({ name, payload }) =>
      isAsked(payload) ? asked.add({ ...payload, content: name.slice(0, -askedSuffix.length) }) : Effect.void
    ),
    Effect.forkScoped
  )

  const numbers = yield* Ref.make<ReadonlyArray<string>>([])

  /** The pictures of the next answer: first those that no answer has asked for, then those of the oldest answers. */
  const inTurn = (wanted: ReadonlyArray<WantedPicture>) =>
    Ref.modify(numbers, (before) => {
      const next = wanted.toSorted(byTurn(before)).slice(0, maxPictures)
      const given = next.map(({ number }) => number)
      return [next, [...before.filter((number) => !given.includes(number)), ...given].slice(-maxNumbers)]
    })

  /**
   * Gives the actions in the answer to a report of their player, until it confirms that its screen has received them, and the
   * pictures that are wanted, until they come.
   */
  const answer = Effect.fnUntraced(function* (
    player: string,
    done: PlayerReport["done"],
    watched: PlayerReport["watched"] = []
  ) {
    const prefix = `${player}/`
    const wanted = yield* pictures.wantedNow(watched.map((screen) => prefix + screen))
    const { given, taken } = yield* asked.take((screen) => screen.startsWith(prefix), {
      done,
      most: maxActions,
      times: done === undefined ? 1 : maxTimes
    })
    yield* Effect.forEach(
      taken,
      ({ action, content, screen }) =>
        publish(`${content}:screen:taken`, { screen, actions: [action] }).pipe(
          Effect.catchAll(({ message }) => Effect.logWarning(message))
        ),
      { discard: true }
    )
    const actions = given.map(({ asked: { content: _, ...asked }, id }) => ({
      ...asked,
      id,
      screen: asked.screen.slice(prefix.length)
    }))
    const asks = (yield* inTurn(wanted)).map(({ number, screen }) => ({
      screen: screen.slice(prefix.length),
      number
    }))
    return json({
      vitrine: vitrineVersion,
      ...(actions.length === 0 ? {} : { actions }),
      ...(asks.length === 0 ? {} : { pictures: asks })
    } satisfies ReportAnswer)
  })

  const report = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    if (!hasToken(request)) {
      return yield* noToken
    }
    if (!isJson(request.headers["content-type"])) {
      return yield* jsonRequired
    }
    const { done, watched, ...report } = yield* readReport
    const address = addressOf(request)
    const outcome = yield* modify((before, now) => {
      const outcome = take(before, { report, address, now }, isExpected)
      return [outcome, Either.getOrElse(outcome, () => before)]
    })
    yield* Effect.tapErrorTag(outcome, "vitrine/NoRoom", ({ message }) => warnOnce(message))
    // A player that ends would not perform actions.
    return report.stoppedBy === undefined
      ? yield* answer(report.node.id, done, watched)
      : json({ vitrine: vitrineVersion })
  })

  const picture = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    return hasToken(request) ? yield* takePicture(pictures) : yield* noToken
  })

  return {
    routes: [
      HttpLayerRouter.route("POST", "/vitrine/reports", report),
      HttpLayerRouter.route("PUT", "/vitrine/pictures/:player/:screen", picture)
    ],
    players
  }
})

/** Both times in milliseconds. */
const timesOf = (clock: Clock.Clock) => ({
  day: clock.unsafeCurrentTimeMillis(),
  monotonic: unsafeMonotonicMillis(clock)
})

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

const byTurn = (before: ReadonlyArray<string>) =>
  Order.mapInput(Order.number, ({ number }: WantedPicture) => before.indexOf(number))

const noToken = tokenRequired(
  'Token required: send "Authorization: Bearer TOKEN" with the "token" of the "reports" of the content server.'
)

const addressOf = ({ remoteAddress }: HttpServerRequest.HttpServerRequest): string =>
  Option.getOrElse(remoteAddress, () => "unknown").replace(/^::ffff:/, "")

const tooLarge = bodyTooLarge(maxReportBytes)

/** Stops at the limit. Synchronous: decompressing so little is faster than a handover to another thread. */
const gunzip = (bytes: Uint8Array): Effect.Effect<Uint8Array, BadRequest | BodyTooLarge> =>
  Effect.try({
    try: () => gunzipSync(bytes, { maxOutputLength: maxReportBytes }),
    catch: (error) =>
      errorCode(error) === "ERR_BUFFER_TOO_LARGE"
        ? tooLarge
        : new BadRequest({ message: "The body is not valid gzip." })
  })

const unpacked = (
  bytes: Uint8Array,
  codings: ReadonlyArray<string>
): Effect.Effect<Uint8Array, BadRequest | BodyTooLarge> => {
  if (codings.length === 0) {
    return bytes.length > maxReportBytes ? tooLarge : Effect.succeed(bytes)
  }
  return codings.length === 1 && codings[0] === "gzip"
    ? gunzip(bytes)
    : new BadRequest({ message: 'The "Content-Encoding" must be gzip or missing.' })
}

const parse = Schema.decodeUnknown(Schema.parseJson())

const decode = Schema.decodeUnknown(PlayerReport)

/**
 * The report in the body of the request: JSON, with or without gzip. The limit holds before and after decompression.
 */
export const readReport = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const bytes = yield* unpacked(yield* RequestBody.read, codingsOf(headers))
  const input = yield* Effect.try(() => decodeText(bytes, charsetOf(headers))).pipe(
    Effect.flatMap((text) => parse(text.replace(/^\ufeff/, ""))),
    Effect.mapError(() => new BadRequest({ message: "The body is not valid JSON." }))
  )
  return yield* Effect.mapError(
    decode(input),
    (error) => new BadRequest({ message: `The report cannot be used: ${issueText(placedIssues(error))}` })
  )
})
