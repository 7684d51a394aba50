/**
 * The HTTP client for all requests to other servers.
 *
 * Connects through the proxy in the environment: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or the same in small
 * letters, which come first. Without `HTTPS_PROXY`, `HTTP_PROXY` is also for https.
 *
 * Requests to https go through a tunnel (CONNECT); requests to http are forwarded. Loopback never goes through a
 * proxy.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import { RequestError } from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Undici from "@effect/platform-node/Undici"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { addressMs } from "../../internal/addressMs.ts"
import { maxHeaderBytes } from "./headers.ts"
import { connector, isNamed, NamedHosts, refusedHost } from "./localAddress.ts"

export { NamedHosts, naming } from "./localAddress.ts"

/**
 * Keeps connections for the next request, until the scope of the layer ends. It uses the proxy of the environment.
 * Requests to local addresses fail, unless `NamedHosts` has their host; requests to metadata services always fail.
 * Hosts in `NamedHosts` have their own connections.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.scoped(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const agents: Array<Undici.Dispatcher> = []
    yield* Effect.addFinalizer(() =>
      Effect.promise(() => Promise.all(agents.map((agent) => agent.destroy())))
    )

    /** Made by the first request, because the environment is complete by then. */
    const lazily = (isNamed: boolean) => {
      let client: HttpClient.HttpClient | undefined
      return () => {
        if (client !== undefined) return client
        const agent = makeAgent(connector(isNamed))
        agents.push(agent)
        client = NodeHttpClient.makeUndici(agent)
        return client
      }
    }
    const named = lazily(true)
    const elsewhere = lazily(false)

    const send = (request: HttpClientRequest.HttpClientRequest, hosts: ReadonlySet<string>) => {
      try {
        const { hostname } = new URL(request.url)
        const mayBeLocal = isNamed(hostname, hosts)
        const refused = refusedHost(hostname, mayBeLocal)
        if (refused !== undefined) throw refused
        return (mayBeLocal ? named : elsewhere)().execute(request)
      } catch (cause) {
        return Effect.fail(new RequestError({ request, reason: "Transport", cause }))
      }
    }

    return HttpClient.makeWith(
      (request: Effect.Effect<HttpClientRequest.HttpClientRequest>) =>
        Effect.flatMap(request, (request) => Effect.flatMap(NamedHosts, (hosts) => send(request, hosts))),
      Effect.succeed
    )
  })
)

/** The environment has no usable proxy. */
class ProxyFailed extends Data.TaggedError("vitrine/ProxyFailed")<{ readonly detail: string }> {
  override get message() {
    return this.detail
  }
}

/** `connect` connects without a proxy. Throws `ProxyFailed` if the environment is wrong. */
const makeAgent = (connect: Undici.buildConnector.connector): Undici.Dispatcher => {
  const httpProxy = proxyOf("http_proxy", "HTTP_PROXY")
  const httpsProxy = proxyOf("https_proxy", "HTTPS_PROXY")
  return new Undici.EnvHttpProxyAgent({
    connect,
    maxHeaderSize: maxHeaderBytes,
    // The type requires a port; the port of the proxy replaces it.
    proxyTls: { port: 0, autoSelectFamilyAttemptTimeout: addressMs },
    proxyTunnel: false,
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    noProxy: withLoopback(variable("no_proxy", "NO_PROXY") ?? "")
  })
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
