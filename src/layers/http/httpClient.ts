/**
 * The HTTP client for everything that is fetched.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import { RequestError } from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Undici from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { connectElsewhere, LocalAddressesAllowed } from "./localAddress.ts"
import { makeAgent } from "./proxy.ts"

/** Made by the first request: by then the environment is complete. */
const makeClient = Effect.fnUntraced(function* (connect: Undici.buildConnector.connector) {
  const scope = yield* Effect.scope
  return yield* Effect.acquireRelease(
    Effect.try({ try: () => makeAgent(connect), catch: (error) => error }),
    (agent) => Effect.promise(() => agent.destroy())
  ).pipe(Effect.map(NodeHttpClient.makeUndici), Scope.extend(scope), Effect.cached)
})

/**
 * Keeps connections for the next request, until the scope of the layer ends. It uses the proxy of the environment, and
 * has its own connections for requests that must not reach local addresses (`LocalAddressesAllowed`).
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.scoped(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const everywhere = yield* makeClient(Undici.buildConnector({}))
    const elsewhere = yield* makeClient(connectElsewhere)
    return HttpClient.makeWith(
      (request: Effect.Effect<HttpClientRequest.HttpClientRequest>) =>
        Effect.zipWith(request, LocalAddressesAllowed, (request, allowed) =>
          (allowed ? everywhere : elsewhere).pipe(
            Effect.mapError((cause) => new RequestError({ request, reason: "Transport", cause })),
            Effect.flatMap(({ execute }) => execute(request))
          )
        ).pipe(Effect.flatten),
      Effect.succeed
    )
  })
)
