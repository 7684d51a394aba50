/**
 * The addresses of a hub and of copies of it, in the order of preference.
 */
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { type LastFailure, makeLastFailure } from "../../internal/lastFailure.ts"
import { upstreamPause } from "../../internal/schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { CopyFailed } from "../../services/Content.ts"
import type * as Slices from "../../services/Slices.ts"
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
  /** What it said last, and when. */
  readonly state: Effect.Effect<Slices.Upstream>
  /** Its versions come from another one. Logged once, until it works again. */
  readonly isReplacedBy: (other: Hub.Hub) => Effect.Effect<void>
}

/** What an address has of `maxTimeout` while another one could be asked. */
const patience = 1 / 6

export const make = Effect.fnUntraced(function* (
  addresses: Array.NonEmptyReadonlyArray<Address>,
  maxTimeout: number
) {
  const last = addresses.length - 1
  const upstreams = yield* Effect.forEach(addresses, (address, index) =>
    makeUpstream(address, index === last ? maxTimeout : Math.ceil(maxTimeout * patience), index === 0)
  )

  /** What the first offers that has a version. */
  const firstOffer = Effect.gen(function* () {
    const [due, resting] = yield* Effect.partition(upstreams, (upstream) =>
      Effect.flatMap(upstream.lastFailure.resting, (failure) =>
        Option.isSome(failure) ? Effect.succeed(upstream) : Effect.fail(upstream)
      )
    )
    for (const upstream of [...due, ...resting]) {
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

const makeUpstream = Effect.fnUntraced(function* (address: Address, maxTimeout: number, isFirst: boolean) {
  const hub = yield* Hub.make(address, maxTimeout)
  const warning = makeWarnWhile((message) => message)
  const lastFailure = makeLastFailure<CopyFailed>(upstreamPause)
  const state = yield* Ref.make<Slices.Upstream>({ url: hub.url })
  const says = (said: Pick<Slices.Upstream, "problem" | "versionId">) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Ref.set(state, { url: hub.url, askedAt: new Date(now).toISOString(), ...said })
    )
  return {
    hub,
    ask: hub.ask.pipe(
      Effect.tapBoth({
        onFailure: (error) => Effect.zipRight(lastFailure.failed(error), says({ problem: error.detail })),
        onSuccess: (version) =>
          Effect.all([
            lastFailure.worked,
            warning.works,
            says(Option.isSome(version) ? { versionId: version.value.manifest.versionId } : {})
          ])
      }),
      Effect.map(Option.map((version) => ({ hub, isFirst, version })))
    ),
    lastFailure,
    state: Ref.get(state),
    isReplacedBy: (other) =>
      Effect.flatMap(
        lastFailure.get,
        Option.match({
          onNone: () => Effect.void,
          onSome: ({ error }) =>
            warning.fails(`${error.message}. Until it works, versions come from ${other.url}.`)
        })
      )
  } satisfies Upstream
})
