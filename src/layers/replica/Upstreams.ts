/**
 * The addresses of a hub and of copies of it, in the order of preference.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type LastFailure, makeLastFailure } from "../../internal/lastFailure.ts"
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
export interface Upstream {
  readonly hub: Hub.Hub
  /** Its newest version, where it has one. */
  readonly ask: Effect.Effect<Option.Option<Offer>, CopyFailed>
  /** While it rests, the others are asked before it. */
  readonly lastFailure: LastFailure<CopyFailed>
  /** Its versions come from another one. Logged once, until it works again. */
  readonly isReplacedBy: (other: Hub.Hub) => Effect.Effect<void>
}

/** What an address has of `maxTimeout` while another one could be asked. */
const patience = 1 / 6

export const make = Effect.fnUntraced(function* (
  addresses: Array.NonEmptyReadonlyArray<Address>,
  maxTimeout: number
) {
  const upstreams = yield* Effect.forEach(addresses, (address, index) =>
    Effect.map(
      Hub.make(address, index === addresses.length - 1 ? maxTimeout : Math.ceil(maxTimeout * patience)),
      (hub) => makeUpstream(hub, index === 0)
    )
  )

  /** What the first offers that has a version. */
  const firstOffer = Effect.gen(function* () {
    const due = yield* Effect.filter(upstreams, ({ lastFailure }) =>
      Effect.map(lastFailure.resting, Option.isNone)
    )
    for (const upstream of [...due, ...Array.difference(upstreams, due)]) {
      const offer = Option.flatten(yield* Effect.option(upstream.ask))
      if (Option.isSome(offer)) {
        const preferred = upstreams.slice(0, upstreams.indexOf(upstream))
        yield* Effect.forEach(preferred, ({ isReplacedBy }) => isReplacedBy(upstream.hub))
        return offer
      }
    }
    const [failure] = Array.getSomes(yield* Effect.forEach(upstreams, ({ lastFailure }) => lastFailure.get))
    return failure === undefined ? Option.none<Offer>() : yield* failure.error
  })

  return { upstreams, firstOffer }
})

const makeUpstream = (hub: Hub.Hub, isFirst: boolean): Upstream => {
  const warning = makeWarnWhile((message) => message)
  const lastFailure = makeLastFailure<CopyFailed>(upstreamPause)
  return {
    hub,
    ask: hub.ask.pipe(
      Effect.tapBoth({
        onFailure: lastFailure.failed,
        onSuccess: () => Effect.zipRight(lastFailure.worked, warning.works)
      }),
      Effect.map(Option.map((version) => ({ hub, isFirst, version })))
    ),
    lastFailure,
    isReplacedBy: (other) =>
      Effect.flatMap(
        lastFailure.get,
        Option.match({
          onNone: () => Effect.void,
          onSome: ({ error }) =>
            warning.fails(`${error.message}. Until it works, versions come from ${other.url}.`)
        })
      )
  }
}
