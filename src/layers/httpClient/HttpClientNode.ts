/**
 * The HTTP client for everything that is fetched.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import { RequestError } from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { connector, isNamed, NamedHosts, refusedHost } from "./localAddress.ts"
import { makeAgent } from "./proxy.ts"

export { NamedHosts, naming } from "./localAddress.ts"

/** Made by the first request: by then the environment is complete. */
const makeClient = Effect.fnUntraced(function* (isNamed: boolean) {
  const scope = yield* Effect.scope
  return yield* Effect.acquireRelease(
    Effect.try({ try: () => makeAgent(connector(isNamed)), catch: (error) => error }),
    (agent) => Effect.promise(() => agent.destroy())
  ).pipe(Effect.map(NodeHttpClient.makeUndici), Scope.extend(scope), Effect.cached)
})

/**
 * Keeps connections for the next request, until the scope of the layer ends. It uses the proxy of the environment. Requests to local
 * addresses fail, unless `NamedHosts` has their host, and those to metadata services always; hosts that are named have their own
 * connections.
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.scoped(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const named = yield* makeClient(true)
    const elsewhere = yield* makeClient(false)

    const send = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest) {
      const failed = (cause: unknown) => new RequestError({ request, reason: "Transport", cause })
      const { hostname } = yield* Effect.try({ try: () => new URL(request.url), catch: failed })
      const mayBeLocal = isNamed(hostname, yield* NamedHosts)
      const refused = refusedHost(hostname, mayBeLocal)
      if (refused !== undefined) return yield* failed(refused)
      const client = yield* Effect.mapError(mayBeLocal ? named : elsewhere, failed)
      return yield* client.execute(request)
    })

    return HttpClient.makeWith(
      (request: Effect.Effect<HttpClientRequest.HttpClientRequest>) => Effect.flatMap(request, send),
      Effect.succeed
    )
  })
)
