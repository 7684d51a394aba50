/**
 * The connection to NATS that the buses and the backlog of a process share.
 *
 * Owns the connection and its renewal: the server may be away for any time, also at the start. While it is away,
 * requests fail at once, and nothing is buffered.
 */
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MutableRef from "effect/MutableRef"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { InvalidOptions } from "../../internal/Options.ts"
import { excerpt } from "../../internal/printable.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { NatsFailure } from "./NatsFailure.ts"
import { decode, type NatsConfig } from "./NatsOptions.ts"
import { type NatsState, pluginReport } from "./pluginReport.ts"
import { open, requestTimeout, type Session } from "./Session.ts"
import { makeTraffic, type Traffic } from "./traffic.ts"

export type { NatsFailure, Session, Traffic }

/**
 * Commands of this process that the other processes do not know.
 *
 * @since 0.1.0
 * @category models
 */
export type Unclaimed = NonNullable<NatsState["unknownElsewhere"]>

/**
 * The connection that the buses and the backlog share.
 *
 * @since 0.1.0
 * @category tags
 */
export class NatsConnection extends Context.Tag("vitrine/NatsConnection")<
  NatsConnection,
  {
    readonly prefix: string
    readonly replicas: number

    /** What waits for the server, and what could not be published. */
    readonly traffic: Traffic

    /** The commands of this process that the other processes do not know, and why. */
    readonly unclaimed: Ref.Ref<Option.Option<Unclaimed>>

    /** Whether this process has subscribed to events of this connection. */
    readonly hasFeeds: MutableRef.MutableRef<boolean>

    /** The present session; fails at once without a connection. */
    readonly session: Effect.Effect<Session, NatsFailure>

    /** The present session, and each later one. */
    readonly sessions: Stream.Stream<Session>
  }
>() {}

/**
 * The connection with the given options. The layer waits for one attempt, five seconds at most. Further attempts follow
 * in the background for ever, with pauses of up to five seconds.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (config: NatsConfig = {}): Layer.Layer<NatsConnection, InvalidOptions> =>
  Layer.scoped(NatsConnection, make(config))

/**
 * As `layer`, with options from the environment: `{ token: Config.redacted("NATS_TOKEN"), … }`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  config: Config.Config.Wrap<NatsConfig>
): Layer.Layer<NatsConnection, InvalidOptions | ConfigError> =>
  Layer.scoped(NatsConnection, Effect.flatMap(Config.unwrap(config), make))

/**
 * As `layer`, without a layer. If there is a `ControllerState`, it gets the state of the connection.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function* (
  config: NatsConfig = {}
): Effect.fn.Return<typeof NatsConnection.Service, InvalidOptions, Scope.Scope> {
  const options = yield* decode(config)
  const { prefix, replicas } = options
  const link = yield* SubscriptionRef.make<Link>({ since: yield* now, problem: "no response yet" })
  const tried = yield* Deferred.make<void>()
  const servers = Array.ensure(options.servers).join(", ")
  const traffic = yield* makeTraffic
  const unclaimed = yield* Ref.make(Option.none<Unclaimed>())

  const warning = makeWarnWhile(
    (problem) => `NATS at ${servers} cannot be used: ${problem}. Trying again until it works.`
  )
  const away = Effect.fnUntraced(function* ({ detail }: NatsFailure) {
    const since = yield* now
    yield* SubscriptionRef.update(link, (before) => ({
      since: "problem" in before ? before.since : since,
      problem: excerpt(detail)
    }))
  })
  const reportAway = Effect.fnUntraced(function* (failure: NatsFailure) {
    yield* away(failure)
    // Each server of a list may fail for a reason of its own.
    yield* warning.fails(failure.detail, failure.detail)
  })

  const session = open(options).pipe(
    Effect.tapError((failure) => Effect.zipRight(reportAway(failure), Deferred.succeed(tried, undefined))),
    Effect.retry(reconnect)
  )
  const oneSession = Effect.gen(function* () {
    const opened = yield* session
    yield* warning.works
    yield* SubscriptionRef.set(link, { since: yield* now, session: opened })
    yield* Effect.logInfo(`Connected to NATS at ${opened.server}`)
    yield* Deferred.succeed(tried, undefined)
    yield* opened.ended
  }).pipe(
    Effect.ensuring(away(connectionLost)),
    Effect.scoped,
    Effect.zipRight(reportAway(connectionLost)),
    Effect.zipRight(anyMoment)
  )
  yield* Effect.forkScoped(Effect.forever(oneSession))
  const state = yield* Effect.serviceOption(ControllerState)
  if (Option.isSome(state)) {
    const slice = Effect.gen(function* () {
      const unknownElsewhere = Option.getOrUndefined(yield* Ref.get(unclaimed))
      return {
        kind: "nats",
        servers,
        prefix,
        link: linkState(yield* SubscriptionRef.get(link)),
        unknownElsewhere,
        ...(yield* traffic.now)
      } satisfies NatsState
    })
    yield* state.value.register({ name: "nats", live: slice, report: pluginReport })
  }
  yield* Effect.timeoutOption(Deferred.await(tried), requestTimeout)

  return NatsConnection.of({
    prefix,
    replicas,
    traffic,
    unclaimed,
    hasFeeds: MutableRef.make(false),
    session: Effect.flatMap(link.get, (link) =>
      "session" in link ? Effect.succeed(link.session) : notConnected
    ),
    sessions: Stream.filterMap(link.changes, (link) =>
      "session" in link ? Option.some(link.session) : Option.none()
    )
  })
})

/** The session, or why there is none. */
type Link =
  | { readonly since: string; readonly session: Session }
  | { readonly since: string; readonly problem: string }

const linkState = (link: Link): NatsState["link"] =>
  "problem" in link
    ? link
    : {
        since: link.since,
        server: link.session.server,
        name: excerpt(link.session.connection.info?.server_name ?? "")
      }

const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis).toISOString())

/**
 * Pauses for ever: from 200 ms, growing by 1.7 up to five seconds. Each is up to a fifth shorter or longer, so that not
 * all clients of a server come back at the same time.
 */
const reconnect = Schedule.exponential("200 millis", 1.7).pipe(
  Schedule.union(Schedule.spaced("5 seconds")),
  Schedule.jittered
)

const connectionLost = new NatsFailure({ detail: "the connection is lost", mayHaveHappened: true })

const notConnected = new NatsFailure({ detail: "there is no connection to NATS", mayHaveHappened: false })

/** All clients lose a server at the same time. They should not try the next server at the same time. */
const anyMoment = Effect.flatMap(Random.nextIntBetween(0, 500), Effect.sleep)
