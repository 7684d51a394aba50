import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Layer from "effect/Layer"

/** For `withAdvancingClock`: a connection that is kept would look as if something were on its way. */
export const httpClient = Layer.provide(
  NodeHttpClient.layerWithoutAgent,
  NodeHttpClient.makeAgentLayer({ keepAlive: false })
)
