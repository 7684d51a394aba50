/**
 * The addresses of a hub and of copies of it, in the order of preference.
 */
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { upstreamPause } from "../../internal/schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { CopyFailed } from "../../services/Content.ts"
import * as Hub from "./Hub.ts"
import type { HubVersion } from "./HubManifest.ts"
import type { Address } from "./ReplicaOptions.ts"

/** A version that can be had. */
export interface Offer {
  readonly hub: Hub.Hub
  /** Whether it is at the preferred address. */
  readonly isFirst: boolean
  readonly version: HubVersion
}

/** One of the addresses. */
export interface Place {
  readonly hub: Hub.Hub
  /** Its newest version, where it has one. */
  readonly ask: Effect.Effect<Option.Option<Offer>, CopyFailed>
  /** When it is to be asked again ahead of others, by the monotonic clock, and why not earlier. */
  readonly failure: () => { readonly retryAt: number; readonly error: CopyFailed } | undefined
  /** Its versions come from another one meanwhile. Logged once, until it works again. */
  readonly isReplacedBy: (other: Hub.Hub) => Effect.Effect<void>
}

/** What an address has of `maxTimeout` while another one could be asked. */
const patience = 1 / 6

export const make = Effect.fnUntraced(function* (
  addresses: Array.NonEmptyReadonlyArray<Address>,
  maxTimeout: number
) {
  const places = yield* Effect.forEach(addresses, (address, index) =>
    Effect.map(
      Hub.make(address, index === addresses.length - 1 ? maxTimeout : Math.ceil(maxTimeout * patience)),
      (hub) => makePlace(hub, index === 0)
    )
  )

  /** What the first offers that has a version. One that failed lately is asked after the others. */
  const firstOffer = Effect.gen(function* () {
    const now = yield* monotonicMillis
    const [due, later] = Array.partition(places, ({ failure }) => (failure()?.retryAt ?? 0) > now)
    for (const place of [...due, ...later]) {
      const offer = Option.flatten(Either.getRight(yield* Effect.either(place.ask)))
      if (Option.isSome(offer)) {
        const preferred = places.slice(0, places.indexOf(place))
        yield* Effect.forEach(preferred, ({ isReplacedBy }) => isReplacedBy(place.hub))
        return offer
      }
    }
    const [failure] = places.flatMap(({ failure }) => failure() ?? [])
    return failure === undefined ? Option.none<Offer>() : yield* failure.error
  })

  return { places, firstOffer }
})

const makePlace = (hub: Hub.Hub, isFirst: boolean): Place => {
  const warning = makeWarnWhile((message) => message)
  let failures = 0
  let failure: ReturnType<Place["failure"]>

  const ask = hub.ask.pipe(
    Effect.tap(() => {
      failures = 0
      failure = undefined
      return warning.works
    }),
    Effect.tapError((error) =>
      Effect.map(monotonicMillis, (now) => {
        failures++
        failure = { retryAt: now + Duration.toMillis(upstreamPause(failures)), error }
      })
    ),
    Effect.map(Option.map((version) => ({ hub, isFirst, version })))
  )

  return {
    hub,
    ask,
    failure: () => failure,
    isReplacedBy: (other) =>
      Effect.suspend(() =>
        failure === undefined
          ? Effect.void
          : warning.fails(`${failure.error.message}. Versions come from ${other.url} meanwhile.`)
      )
  }
}
