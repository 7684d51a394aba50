/**
 * One connection to a NATS server, from its beginning to its end: the server, its certificate, and the credentials.
 */
import { readFile } from "node:fs/promises"
import { isIP } from "node:net"
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream"
import {
  type Authenticator,
  type NatsConnection as Connection,
  connect,
  credsAuthenticator,
  type NodeConnectionOptions,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator
} from "@nats-io/transport-node"
import * as Array from "effect/Array"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import { endWithin } from "../../internal/background.ts"
import { excerpt } from "../../internal/printable.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { ask, NatsFailure } from "./NatsFailure.ts"
import type { NatsOptions } from "./NatsOptions.ts"

/** The timeout of a request to the server, in milliseconds. */
export const requestTimeout = 5000

export interface Session {
  /** The URL of the server, one of those in the options. */
  readonly server: string
  readonly connection: Connection
  readonly jetStream: JetStreamClient
  readonly manager: JetStreamManager
  /** Returns when the connection is lost. */
  readonly ended: Effect.Effect<void>
}

/** Connects to one of the servers, in random order. The connection ends with the scope. */
export const open = Effect.fnUntraced(function* (options: NatsOptions) {
  const servers = yield* Random.shuffle(Array.ensure(options.servers))
  const authenticator = yield* authenticate(options)
  const [server, connection] = yield* Effect.validateFirst(servers, (server) =>
    acquire({
      ...common,
      name: `vitrine ${options.prefix}`,
      servers: server,
      ...tls(options, server),
      ...authenticator
    }).pipe(
      Effect.map((connection) => [server, connection] as const),
      Effect.mapError((failure) => ({ server, failure }))
    )
  ).pipe(Effect.mapError(allFailures))
  const manager = yield* ask(() => jetstreamManager(connection, { timeout: requestTimeout, checkAPI: false }))
  const ended = yield* Deferred.make<void>()
  yield* Effect.forkScoped(Deferred.complete(ended, untilLost(connection)))
  const jetStream = jetstream(connection, { timeout: requestTimeout })
  return { server, connection, jetStream, manager, ended: Deferred.await(ended) } satisfies Session
})

const common = {
  timeout: requestTimeout,
  pingInterval: 5000,
  maxPingOut: 2,
  // Each session has its own connection: nothing begun in one session continues in the next.
  reconnect: false,
  noAsyncTraces: true
}

/**
 * The client ignores the scheme of a URL, and would send a password to a server without TLS. It also does not check the
 * certificate of an IP address against that address, unless the address is given as the host.
 */
const tls = ({ tls }: NatsOptions, server: string) => {
  const { hostname, protocol } = new URL(server)
  const address = hostname.replace(/^\[|\]$/g, "")
  return tls === undefined && protocol !== "tls:"
    ? {}
    : { tls: { ...tls, ...(isIP(address) === 0 ? {} : { host: address }) } }
}

/** The failures of all servers, in a fixed order. */
const allFailures = (
  failures: ReadonlyArray<{ readonly server: string; readonly failure: NatsFailure }>
): NatsFailure => {
  const [first, ...others] = failures
  return first !== undefined && others.every(({ failure }) => failure.detail === first.failure.detail)
    ? first.failure
    : new NatsFailure({
        detail: failures
          .map(({ failure, server }) => `${server}: ${failure.detail}`)
          .sort()
          .join("; "),
        mayHaveHappened: false
      })
}

/** The connection, closed with the scope. If it opens after an interruption, it is closed at once. */
const acquire = (options: NodeConnectionOptions) =>
  Effect.uninterruptibleMask((restore) => {
    let isAwaited = true
    const connecting = ask(async () => {
      const connection = await connect(options)
      if (!isAwaited) {
        void connection.close()
      }
      return connection
    })
    const giveUp = Effect.sync(() => {
      isAwaited = false
    })
    return restore(Effect.onInterrupt(connecting, () => giveUp)).pipe(
      Effect.tap((connection) => Effect.addFinalizer(() => close(connection)))
    )
  })

/** A server that does not read could keep the connection open, so closing it has a time limit. */
const close = (connection: Connection) => endWithin("1 second")(Effect.promise(() => connection.close()))

/** Does not wait for the close: a dead connection may take any time to close. */
const untilLost = (connection: Connection) =>
  Effect.promise(async () => {
    for await (const { type } of connection.status()) {
      if (type === "staleConnection" || type === "disconnect" || type === "close") {
        return
      }
    }
  })

/** The file is read for each connection: it may be replaced at any time. */
const authenticate = (
  options: NatsOptions
): Effect.Effect<{ authenticator?: Authenticator }, NatsFailure> => {
  const { credentialsFile, nkeySeed, password, token, user } = options
  if (credentialsFile !== undefined) {
    return Effect.tryPromise({
      try: async () => {
        const authenticator = credsAuthenticator(await readFile(credentialsFile))
        // Without this, the failure of the connection would not name the file.
        authenticator()
        return { authenticator }
      },
      catch: (cause) =>
        new NatsFailure({
          detail: `the credentials file ${credentialsFile} cannot be read: ${excerpt(messageOf(cause))}`,
          mayHaveHappened: false,
          cause
        })
    })
  }
  if (nkeySeed !== undefined) {
    const seed = new TextEncoder().encode(Redacted.value(nkeySeed))
    return Effect.succeed({ authenticator: nkeyAuthenticator(seed) })
  }
  if (token !== undefined) {
    return Effect.succeed({ authenticator: tokenAuthenticator(Redacted.value(token)) })
  }
  return Effect.succeed(
    user === undefined
      ? {}
      : { authenticator: usernamePasswordAuthenticator(user, password && Redacted.value(password)) }
  )
}
