/**
 * Pacing of requests to a rate-limited API, shared by all code that uses the same API.
 *
 * It owns when a request may start. The client decides what a refused request means, and whether to retry it.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/**
 * The turns of the requests that share a limit.
 *
 * @since 0.1.0
 * @category models
 */
export interface Pacer {
  /**
   * Waits until a request may start, and takes the place. Waiters are served in order, and reported to the
   * `WaitObserver`.
   */
  readonly take: Effect.Effect<void>

  /** Lets no request start for this duration from now; waiters keep their order. */
  readonly hold: (duration: Duration.DurationInput) => Effect.Effect<void>
}

/**
 * The pace of requests to other servers, from all parts of this process.
 *
 * @since 0.1.0
 * @category tags
 */
export class RequestPacing extends Context.Tag("vitrine/RequestPacing")<
  RequestPacing,
  {
    /**
     * The one pacer for everybody who gives the same key, for example an endpoint and a base. After a request has
     * taken its place here, the next request starts when `interval` has passed.
     */
    readonly pacer: (key: string, interval: Duration.DurationInput) => Effect.Effect<Pacer>
  }
>() {}
