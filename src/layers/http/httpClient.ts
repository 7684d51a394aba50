/**
 * The HTTP client for everything that is fetched.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Undici from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { connectElsewhere, LocalAddressesAllowed } from "./localAddress.ts"

const makeClient = (options?: Undici.Agent.Options) =>
  Effect.acquireRelease(
    Effect.sync(() => new Undici.Agent(options)),
    (agent) => Effect.promise(() => agent.destroy())
  ).pipe(Effect.map(NodeHttpClient.makeUndici))

/**
 * Keeps connections for the next request, until the scope of the layer ends. It has its own connections for requests
 * that must not reach local addresses (`LocalAddressesAllowed`).
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.scoped(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const everywhere = yield* makeClient()
    const elsewhere = yield* makeClient({ connect: connectElsewhere })
    return HttpClient.makeWith(
      (request: Effect.Effect<HttpClientRequest.HttpClientRequest>) =>
        Effect.zipWith(request, LocalAddressesAllowed, (request, allowed) =>
          (allowed ? everywhere : elsewhere).execute(request)
        ).pipe(Effect.flatten),
      Effect.succeed
    )
  })
)
