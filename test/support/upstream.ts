/**
 * Hubs without a socket: a client that answers in memory.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import { RequestError } from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeHubFolder } from "./hub.ts"

/** The signal ends the request, as it does over a socket. */
export type Answer = (
  request: HttpClientRequest.HttpClientRequest,
  signal: AbortSignal
) => Effect.Effect<HttpClientResponse.HttpClientResponse, RequestError>

const respond =
  (
    status: number,
    body: ConstructorParameters<typeof Response>[0],
    headers: Record<string, string> = {}
  ): Answer =>
  (request) =>
    Effect.sync(() => HttpClientResponse.fromWeb(request, new Response(body, { status, headers })))

export const text = (status: number, body: string, headers: Record<string, string> = {}): Answer =>
  respond(status, body, { "content-length": String(Buffer.byteLength(body)), ...headers })

export const json = (status: number, body: unknown): Answer => text(status, JSON.stringify(body))

export const bytes = (
  status: number,
  body: Uint8Array<ArrayBuffer>,
  headers: Record<string, string>
): Answer => respond(status, body, headers)

export const empty = (status: number, headers: Record<string, string> = {}): Answer =>
  respond(status, null, headers)

/** Closes the connection without an answer. */
export const hangUp: Answer = (request) =>
  Effect.fail(new RequestError({ request, reason: "Transport", cause: new Error("other side closed") }))

/** Never responds. */
export const silence: Answer = (request, signal) =>
  Effect.async((resume) => {
    signal.addEventListener("abort", () =>
      resume(Effect.fail(new RequestError({ request, reason: "Transport", cause: signal.reason })))
    )
  })

/** Gives the beginning of a body, and what becomes of it then. */
const begins =
  (content: string, length: number, then: (controller: ReadableStreamDefaultController) => void): Answer =>
  (request, signal) =>
    respond(
      200,
      new ReadableStream({
        start: (controller) => {
          controller.enqueue(Buffer.from(content))
          signal.addEventListener("abort", () => controller.error(signal.reason))
        },
        pull: then
      }),
      { "content-length": String(length) }
    )(request, signal)

/** Never ends its body. */
export const stalledBody: Answer = begins('{"records":[', 1000, () => new Promise(() => {}))

/** Begins to send the body, and closes the connection in the middle of it. */
export const cutAfter = (content: string, bytes: number): Answer =>
  begins(content.slice(0, bytes), content.length, (controller) => controller.error(new Error("terminated")))

/** By the beginnings of their URLs. */
class Upstreams extends Context.Tag("test/Upstreams")<Upstreams, Map<string, Answer>>() {}

export const makeUpstream = Effect.gen(function* () {
  const upstreams = yield* Upstreams
  const hub = yield* makeHubFolder<Answer>()
  const url = `http://192.0.2.${upstreams.size + 1}`
  upstreams.set(`${url}/`, (request, signal) =>
    Effect.suspend(() => {
      const { answer, entry } = hub.receive(new URL(request.url).pathname, request.headers)
      const { body, headers, status } = answer === undefined ? hub.read(entry) : { status: 0, headers: {} }
      const given =
        answer ?? (body === undefined ? empty(status, headers) : bytes(status, Buffer.from(body), headers))
      return Effect.tap(given(request, signal), ({ status }) =>
        Effect.sync(() => {
          entry.status = status
        })
      )
    })
  )
  return { ...hub, url }
})

const client = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(Upstreams, (upstreams) =>
    HttpClient.make((request, _, signal) => {
      const [, answer = hangUp] = [...upstreams].find(([url]) => request.url.startsWith(url)) ?? []
      return answer(request, signal)
    })
  )
)

/** What is needed for a test over such hubs: each test has its own. */
export const layer = Layer.merge(
  NodeContext.layer,
  Layer.provideMerge(
    client,
    Layer.sync(Upstreams, () => new Map())
  )
)
