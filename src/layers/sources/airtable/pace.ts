/**
 * How often the hosted table API may be asked, and how long it is left alone after too many requests.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Pacer } from "../../../services/RequestPacing.ts"
import type { TableError } from "../../../services/TableSourceClient.ts"
import type { AirtableClientOptions } from "./AirtableOptions.ts"

/** The pace of a base, for all its sources. The endpoint is a URL, because it can be written in several ways. */
export const baseKey = ({
  baseId,
  endpointUrl
}: Pick<AirtableClientOptions, "baseId" | "endpointUrl">): string =>
  `${new URL(`${endpointUrl}/`).href} ${baseId}`

/** Five requests a second are allowed for a base; this leaves room for what the network does to their spacing. */
export const interval = Duration.millis(215)

/** After a 429 the API rejects everything for this long. */
export const cooldown = Duration.seconds(30)

const maxCooldowns = 3

/** The server rejects all requests to the base for a while. */
export class RateLimited extends Data.TaggedError("vitrine/RateLimited")<{
  readonly error: TableError
  readonly pause: Duration.Duration
}> {}

/** Runs the effect again after each cooldown, in which no request starts; three times at most. */
export const withCooldowns = <A, E, R>(
  pacer: Pacer,
  effect: Effect.Effect<A, E | RateLimited, R>,
  left = maxCooldowns
): Effect.Effect<A, Exclude<E, RateLimited> | TableError, R> =>
  Effect.catchIf(effect, isRateLimited, ({ error, pause }) =>
    Effect.zipRight(
      pacer.hold(pause),
      left === 0
        ? Effect.fail(error)
        : Effect.zipRight(
            Effect.logWarning(`${error.message}. Waiting ${Duration.format(pause)} before the next request`),
            withCooldowns(pacer, effect, left - 1)
          )
    )
  )

const isRateLimited = (error: unknown): error is RateLimited => error instanceof RateLimited
