/**
 * A listening port or socket as a scoped resource. No client can delay its end.
 */
import type { Server } from "node:http"
import { type AddressInfo, isIPv6, type ListenOptions as NetListenOptions } from "node:net"
import { networkInterfaces } from "node:os"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { ErrorChain } from "../../internal/SerializedError.ts"

/**
 * The port could not be bound.
 *
 * @since 0.1.0
 * @category errors
 */
export class BindError extends Schema.TaggedError<BindError>()("vitrine/BindError", {
  host: Schema.String,
  port: Schema.Number,
  /** The system's code, `EADDRINUSE` for example. */
  code: Schema.String,
  cause: ErrorChain
}) {
  override get message() {
    const host = this.host.includes(":") ? `[${this.host}]` : this.host
    return `Cannot listen on ${host}:${this.port}: ${advice(this)}`
  }
}

const advice = ({ cause, code, host, port }: BindError): string => {
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is already in use. Stop the program that uses it, or set another "port" (0 picks a free one).`
    case "EACCES":
      return port > 1023
        ? `the system reserves port ${port}. Set another "port"; "netsh interface ipv4 show excludedportrange protocol=tcp" lists the ports that Windows reserves.`
        : `this user may not use port ${port}. Set a "port" above 1023.`
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `this machine has no interface "${host}". Set "host" to an address of this machine, such as "${host.startsWith("127.") ? "::1" : "127.0.0.1"}".`
    default:
      return cause instanceof Error ? cause.message : String(cause)
  }
}

export interface ListenOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** Runs when the port accepts no more connections, before the server waits for open connections. */
  readonly beforeDrain?: Effect.Effect<void>
}

/** How many connections may wait to be accepted: after a restart all clients reconnect at once. */
const backlog = 4096

/** How long unfinished requests may take after the server stops. */
const graceMs = 300

/**
 * Binds the server to a port. When the scope ends, the port accepts no more connections, unfinished requests get 300 ms,
 * and then every connection is closed.
 */
export const listen = (
  server: Server,
  { beforeDrain = Effect.void, host, port }: ListenOptions
): Effect.Effect<AddressInfo, BindError, Scope.Scope> =>
  listenAt(server, { host, port }, beforeDrain).pipe(
    Effect.mapBoth({
      onSuccess: () => server.address() as AddressInfo,
      onFailure: (cause) => new BindError({ host, port, code: cause.code ?? "UNKNOWN", cause })
    })
  )

/** As `listen`, for a port or a Unix socket. */
export const listenAt = (
  server: Server,
  address: NetListenOptions,
  beforeDrain: Effect.Effect<void>
): Effect.Effect<void, NodeJS.ErrnoException, Scope.Scope> =>
  Effect.acquireRelease(bind(server, address), () =>
    Effect.sync(() => drain(server)).pipe(Effect.flatMap((drained) => Effect.zipRight(beforeDrain, drained)))
  ).pipe(Effect.tap(() => logErrors(server)))

/** The URL of a server, such as `http://[::1]:8710`. If it listens on all interfaces: with the network address of this machine. */
export const urlOf = (host: string, port: number, interfaces = networkInterfaces()): string => {
  const reachable = isEverywhere(host) ? ownAddress(host, interfaces) : host
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`
}

/** Whether a server on this host listens on all interfaces. */
export const isEverywhere = (host: string): boolean => host === "0.0.0.0" || host === "::"

/** `::` includes IPv4. An address with a scope is valid only on its link, and not in a URL. */
const ownAddress = (host: string, interfaces: ReturnType<typeof networkInterfaces>): string => {
  const addresses = Object.values(interfaces).flatMap((addresses = []) =>
    addresses.filter(({ internal }) => !internal)
  )
  const ipv4 = addresses.find(({ family }) => family === "IPv4")
  return host === "::"
    ? ((ipv4 ?? addresses.find(({ scopeid }) => scopeid === 0))?.address ?? "::1")
    : (ipv4?.address ?? "127.0.0.1")
}

const bind = (server: Server, address: NetListenOptions) =>
  Effect.async<void, NodeJS.ErrnoException>((resume) => {
    const onError = (cause: NodeJS.ErrnoException) => resume(Effect.fail(cause))
    server.once("error", onError)
    server.listen({ ...address, backlog }, () => {
      server.off("error", onError)
      resume(Effect.void)
    })
  })

/** Without an `error` listener, a connection that is not accepted would end the process. */
const logErrors = (server: Server) =>
  Effect.map(Effect.runtime(), (runtime) => {
    const log = Runtime.runFork(runtime)
    server.on("error", ({ message }) => log(Effect.logWarning(`A connection was not accepted: ${message}`)))
  })

/** Stops accepting connections at once; the returned Effect waits until the last connection is closed. */
const drain = (server: Server): Effect.Effect<void> => {
  const closed = new Promise<void>((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs)
    server.close(() => {
      clearTimeout(timer)
      resolve()
    })
  })
  return Effect.promise(() => closed)
}
