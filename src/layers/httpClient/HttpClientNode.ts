/**
 * The HTTP client for all requests to other servers.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import { RequestError } from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Agent } from "./agent.ts"
import { isNamed, NamedHosts, refusedHost } from "./localAddress.ts"

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
    const agents: Array<Agent> = []
    yield* Effect.addFinalizer(() =>
      Effect.promise(() => Promise.all(agents.map((agent) => agent.destroy())))
    )

    /** Made by the first request, because the environment is complete by then, and loading takes as long as all other modules. */
    const lazily = (isNamed: boolean) => {
      // No cached effect: it would keep the interruption of the first request.
      let loading: Promise<HttpClient.HttpClient> | undefined
      const load = async () => {
        const { agent, client } = (await import("./agent.ts")).makeAgent(isNamed)
        agents.push(agent)
        return client
      }
      return Effect.tryPromise(() => {
        loading ??= load()
        return loading
      })
    }
    const named = lazily(true)
    const elsewhere = lazily(false)

    const clientFor = (url: string, hosts: ReadonlySet<string>) =>
      Effect.try(() => {
        const { hostname } = new URL(url)
        const mayBeLocal = isNamed(hostname, hosts)
        const refused = refusedHost(hostname, mayBeLocal)
        if (refused !== undefined) throw refused
        return mayBeLocal ? named : elsewhere
      }).pipe(
        Effect.flatten,
        Effect.mapError(({ error }) => error)
      )

    const send = (request: HttpClientRequest.HttpClientRequest, hosts: ReadonlySet<string>) =>
      clientFor(request.url, hosts).pipe(
        Effect.mapError((cause) => new RequestError({ request, reason: "Transport", cause })),
        Effect.flatMap((client) => client.execute(request))
      )

    return HttpClient.makeWith(
      (request: Effect.Effect<HttpClientRequest.HttpClientRequest>) =>
        Effect.flatMap(request, (request) => Effect.flatMap(NamedHosts, (hosts) => send(request, hosts))),
      Effect.succeed
    )
  })
)
