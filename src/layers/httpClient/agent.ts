/**
 * The connections of the HTTP client. Undici takes longer to load than everything else of a short command, so only a request loads
 * this module.
 *
 * Connects through the proxy in the environment: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or the same in small
 * letters, which come first. Without `HTTPS_PROXY`, `HTTP_PROXY` is also for https.
 *
 * Requests to https go through a tunnel (CONNECT); requests to http are forwarded. Loopback never goes through a
 * proxy.
 */
import * as dns from "node:dns"
import { type LookupFunction, Socket } from "node:net"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Undici from "@effect/platform-node/Undici"
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import { addressMs } from "../../internal/addressMs.ts"
import { maxHeaderBytes } from "./headers.ts"
import { refusal } from "./localAddress.ts"

/** The environment has no usable proxy. */
class ProxyFailed extends Data.TaggedError("vitrine/ProxyFailed")<{ readonly detail: string }> {
  override get message() {
    return this.detail
  }
}

export interface Agent {
  /** Ends all connections. */
  readonly destroy: () => Promise<void>
}

/** The longest `maxTimeout`: each request has its own limit, and its retries make connections of their own. */
const connectMs = 600_000

/** Throws `ProxyFailed` if the environment is wrong. */
export const makeAgent = (isNamed: boolean) => {
  const limits = { autoSelectFamilyAttemptTimeout: addressMs, timeout: connectMs }
  const sockets = new Set<Socket>()
  /** Keeps the connections. A signal would keep them also after their end: Node never removes its listeners. */
  const keeping = (options: object) => {
    if (!Predicate.hasProperty(options, "connect") || !Predicate.isFunction(options.connect)) return options
    const { connect } = options
    return {
      ...options,
      connect: (...given: ReadonlyArray<unknown>) => {
        const socket: unknown = connect(...given)
        if (socket instanceof Socket) sockets.add(socket.once("close", () => sockets.delete(socket)))
      }
    }
  }
  const httpProxy = proxyOf("http_proxy", "HTTP_PROXY")
  const httpsProxy = proxyOf("https_proxy", "HTTPS_PROXY")
  const agent = new Undici.EnvHttpProxyAgent({
    connect: connector(isNamed, limits),
    clientFactory: (proxy, options) => new Undici.Pool(proxy, keeping(options)),
    // A proxy that forwards gets no other options.
    factory: (origin, options) =>
      new Undici.Pool(origin, { ...keeping(options), maxHeaderSize: maxHeaderBytes }),
    // The types require a port, which is replaced.
    proxyTls: { ...limits, port: 0 },
    requestTls: { ...limits, port: 0 },
    proxyTunnel: false,
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    noProxy: withLoopback(variable("no_proxy", "NO_PROXY") ?? "")
  })
  const destroy = () => {
    // Undici leaves the connections that are being made.
    for (const socket of sockets) socket.destroy()
    return agent.destroy()
  }
  return { agent: { destroy } satisfies Agent, client: NodeHttpClient.makeUndici(agent) }
}

const variable = (...names: ReadonlyArray<string>): string | undefined =>
  names.map((name) => process.env[name]).find((value) => value !== undefined)

/** An address without a scheme is an http address, as for curl. */
const proxyOf = (...names: ReadonlyArray<string>): string | undefined => {
  const value = variable(...names)
  if (value === undefined || value === "") return value
  const address = value.includes("://") ? value : `http://${value}`
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return address
  throw new ProxyFailed({
    detail: `the environment variable ${names.join(" or ")} is not the address of an http or https proxy, such as "http://proxy.example:3128"`
  })
}

const withLoopback = (noProxy: string): string =>
  noProxy.trim() === "*" ? "*" : `${noProxy},localhost,127.0.0.1,[::1]`

/**
 * Connects to everything except local addresses, or also to local addresses, but never to metadata services. The
 * checked address is the address of the connection, so a name that resolves differently a moment later changes
 * nothing.
 */
const connector = (
  isNamed: boolean,
  options: Undici.buildConnector.BuildOptions
): Undici.buildConnector.connector => {
  const lookup: LookupFunction = (hostname, options, callback) =>
    dns.lookup(hostname, { ...options, all: true }, (error, found) => {
      const [first] = found ?? []
      const refused = found?.flatMap(({ address }) => refusal(address, hostname, isNamed) ?? [])[0]
      if (error !== null || first === undefined) {
        callback(error, "")
      } else if (refused !== undefined) {
        callback(refused, "")
      } else if (options.all === true) {
        callback(null, found)
      } else {
        callback(null, first.address, first.family)
      }
    })
  return Undici.buildConnector({ ...options, lookup })
}
