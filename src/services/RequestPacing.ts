/**
 * Pacing of requests to a rate-limited API, shared by everyone who talks to the same thing.
 *
 * It owns when a request may start. What a refused request means, and whether to try it again, belongs to
 * the client.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/** The turns of the requests that share a limit. */
export interface Pacer {
  /** Waits until a request may start, and takes that place. Waiters are served in order, and reported to the `WaitObserver`. */
  readonly take: Effect.Effect<void>

  /** Lets no request start for that long from now; waiters keep their order. */
  readonly hold: (duration: Duration.DurationInput) => Effect.Effect<void>
}

/** How fast requests to others follow each other, from all parts of this process. */
export class RequestPacing extends Context.Tag("vitrine/RequestPacing")<
  RequestPacing,
  {
    /**
     * The one pacer of everybody who gives the same key (an endpoint and a base, say). After a request that has taken its
     * place here, the next one starts when `interval` has passed.
     */
    readonly pacer: (key: string, interval: Duration.DurationInput) => Effect.Effect<Pacer>
  }
>() {}
