/**
 * Hosts that are elsewhere, as far as the code knows.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import { naming } from "../../src/layers/httpClient/localAddress.ts"

/** Reaches the hosts, wherever they are in truth. */
export const reaching = (hosts: Readonly<Record<string, string>>) =>
  Effect.map(HttpClient.HttpClient, (client) =>
    HttpClient.makeWith(
      (request: Effect.Effect<HttpClientRequest.HttpClientRequest>) =>
        Effect.flatMap(request, (request) => {
          const host = Object.keys(hosts).find((host) => request.url.startsWith(host))
          return host === undefined
            ? client.execute(request)
            : client.pipe(
                HttpClient.mapRequest(HttpClientRequest.setUrl(request.url.replace(host, hosts[host] ?? ""))),
                HttpClient.transformResponse(naming(hosts[host] ?? "")),
                (client) => client.execute(request)
              )
        }),
      Effect.succeed
    )
  )
