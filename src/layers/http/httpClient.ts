/**
 * The HTTP client for everything that is fetched.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as Layer from "effect/Layer"

/** Keeps connections for the next request, until the scope of the layer ends. */
export const layer: Layer.Layer<HttpClient.HttpClient> = NodeHttpClient.layerUndici
