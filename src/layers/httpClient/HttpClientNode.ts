/**
 * The HTTP client for everything that is fetched.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import { RequestError } from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as Undici from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { connector, isNamed, NamedHosts, refusedHost } from "./localAddress.ts"
import { makeAgent } from "./proxy.ts"

export { NamedHosts, naming } from "./localAddress.ts"

/**
 * Keeps connections for the next request, until the scope of the layer ends. It uses the proxy of the environment. Requests to local
 * addresses fail, unless `NamedHosts` has their host, and those to metadata services always; hosts that are named have their own
 * connections.
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.scoped(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const agents: Array<Undici.Dispatcher> = []
    yield* Effect.addFinalizer(() =>
      Effect.promise(() => Promise.all(agents.map((agent) => agent.destroy())))
    )

    /** Made by the first request: by then the environment is complete. */
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
