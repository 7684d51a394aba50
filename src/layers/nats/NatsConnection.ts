/**
 * The connection to NATS that the buses and the backlog of a process share.
 *
 * It owns the connection, from one end to the next beginning: the server may be away for as long as it likes, at the
 * start too. What is asked for meanwhile fails at once; nothing is buffered.
 */
import { readFile } from "node:fs/promises"
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream"
import {
  type Authenticator,
  type NatsConnection as Connection,
  connect,
  credsAuthenticator,
  type NodeConnectionOptions,
  tokenAuthenticator,
  usernamePasswordAuthenticator
} from "@nats-io/transport-node"
import * as Array from "effect/Array"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MutableRef from "effect/MutableRef"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { InvalidOptions } from "../../internal/Options.ts"
import { NatsFailure, natsFailure } from "./NatsFailure.ts"
import { decode, type NatsConfig, type NatsOptions } from "./NatsOptions.ts"

/** How long a request to the server may take. */
export const requestTimeout = 5000

/** One connection, from its beginning to its end. */
export interface Session {
  readonly connection: Connection
  readonly jetStream: JetStreamClient
  readonly manager: JetStreamManager
  /** Returns when the connection is lost. */
  readonly ended: Effect.Effect<void>
}

export class NatsConnection extends Context.Tag("vitrine/NatsConnection")<
  NatsConnection,
  {
    readonly prefix: string
    readonly replicas: number

    /** Whether this process has subscribed to events here. */
    readonly hasFeeds: MutableRef.MutableRef<boolean>

    /** The present session; it fails at once where there is none. */
    readonly session: Effect.Effect<Session, NatsFailure>

    /** The present session, and each that follows it. */
    readonly sessions: Stream.Stream<Session>
  }
>() {}

/**
 * The connection with the given options. It tries to connect once before the layer is there, for five seconds at most,
 * and goes on in the background, with pauses of up to five seconds, for ever.
 */
export const layer = (config: NatsConfig = {}): Layer.Layer<NatsConnection, InvalidOptions> =>
  Layer.scoped(NatsConnection, make(config))

/** The same with options from the environment, `{ token: Config.redacted("NATS_TOKEN"), … }`. */
export const layerConfig = (
  config: Config.Config.Wrap<NatsConfig>
): Layer.Layer<NatsConnection, InvalidOptions | ConfigError> =>
  Layer.scoped(NatsConnection, Effect.flatMap(Config.unwrap(config), make))

/** The same without a layer. */
export const make = Effect.fnUntraced(function* (config: NatsConfig = {}) {
  const options = yield* decode(config)
  const current = yield* SubscriptionRef.make(Option.none<Session>())
  const tried = yield* Deferred.make<void>()
  const servers = Array.ensure(options.servers).join(", ")

  let reported: string | undefined
  const reportAway = ({ detail }: NatsFailure) =>
    Effect.suspend(() => {
      const isNews = detail !== reported
      reported = detail
      return Effect.when(
        Effect.logWarning(`NATS at ${servers} cannot be used: ${detail}. Trying again until it can.`),
        () => isNews
      )
    })
  const reportConnected = Effect.suspend(() => {
    reported = undefined
    return Effect.logInfo(`Connected to NATS at ${servers}`)
  })

  const session = open(options).pipe(
    Effect.tapError((failure) => Effect.zipRight(reportAway(failure), Deferred.succeed(tried, undefined))),
    Effect.retry(pauses)
  )
  const oneSession = Effect.gen(function* () {
    const opened = yield* session
    yield* reportConnected
    yield* SubscriptionRef.set(current, Option.some(opened))
    yield* Deferred.succeed(tried, undefined)
    yield* opened.ended
  }).pipe(
    Effect.ensuring(SubscriptionRef.set(current, Option.none())),
    Effect.scoped,
    Effect.zipRight(reportAway(connectionLost))
  )
  yield* Effect.forkScoped(Effect.forever(oneSession))
  yield* Deferred.await(tried)

  return NatsConnection.of({
    prefix: options.prefix,
    replicas: options.replicas,
    hasFeeds: MutableRef.make(false),
    session: Effect.flatMap(
      current.get,
      Option.match({ onNone: () => notConnected, onSome: Effect.succeed })
    ),
    sessions: Stream.filterMap(current.changes, (session) => session)
  })
})

const connectionLost = new NatsFailure({ detail: "the connection is lost", mayHaveHappened: true })

const notConnected = new NatsFailure({ detail: "there is no connection to NATS", mayHaveHappened: false })

/** Not all clients of a server that is back come at the same time. */
const pauses = Schedule.exponential("200 millis", 1.7).pipe(
  Schedule.union(Schedule.spaced("5 seconds")),
  Schedule.jittered
)

const open = Effect.fnUntraced(function* (options: NatsOptions) {
  const authenticator = yield* authenticate(options)
  const connection = yield* acquire({
    servers: [...Array.ensure(options.servers)],
    name: `vitrine ${options.prefix}`,
    timeout: requestTimeout,
    pingInterval: 5000,
    maxPingOut: 2,
    // Each session is a connection of its own: nothing that one has begun goes on in the next.
    reconnect: false,
    noAsyncTraces: true,
    ...(authenticator === undefined ? {} : { authenticator }),
    ...(options.tls === undefined ? {} : { tls: options.tls })
  })
  const manager = yield* Effect.tryPromise({
    try: () => jetstreamManager(connection, { timeout: requestTimeout, checkAPI: false }),
    catch: natsFailure
  })
  const ended = yield* Deferred.make<void>()
  yield* Effect.forkScoped(Deferred.complete(ended, untilLost(connection)))
  const jetStream = jetstream(connection, { timeout: requestTimeout })
  return { connection, jetStream, manager, ended: Deferred.await(ended) } satisfies Session
})

/** The connection, closed with the scope. One that comes after an interruption is closed at once. */
const acquire = (options: NodeConnectionOptions) =>
  Effect.uninterruptibleMask((restore) =>
    restore(
      Effect.async<Connection, NatsFailure>((resume) => {
        let isAwaited = true
        connect(options).then(
          (connection) => (isAwaited ? resume(Effect.succeed(connection)) : void connection.close()),
          (error: unknown) => resume(Effect.fail(natsFailure(error)))
        )
        return Effect.sync(() => {
          isAwaited = false
        })
      })
    ).pipe(Effect.tap((connection) => Effect.addFinalizer(() => close(connection))))
  )

/** A server that does not read may keep it open. */
const close = (connection: Connection) =>
  Effect.promise(() => connection.close()).pipe(Effect.disconnect, Effect.timeoutOption("1 second"))

/** Does not wait for its end: a connection that is found to be dead may take any time to close. */
const untilLost = (connection: Connection) =>
  Effect.promise(async () => {
    for await (const { type } of connection.status()) {
      if (type === "staleConnection" || type === "disconnect" || type === "close") {
        return
      }
    }
  })

const authenticate = ({ credentialsFile, password, token, user }: NatsOptions) => {
  const known: ReadonlyArray<Authenticator> = [
    ...(token === undefined ? [] : [tokenAuthenticator(Redacted.value(token))]),
    ...(user === undefined ? [] : [usernamePasswordAuthenticator(user, password && Redacted.value(password))])
  ]
  return credentialsFile === undefined
    ? Effect.succeed(known[0])
    : Effect.tryPromise({
        try: () => readFile(credentialsFile),
        catch: (cause) =>
          new NatsFailure({
            detail: `the credentials file ${credentialsFile} cannot be read`,
            mayHaveHappened: false,
            cause
          })
      }).pipe(Effect.map(credsAuthenticator))
}
