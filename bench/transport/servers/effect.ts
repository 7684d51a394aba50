/**
 * A bare Effect program: one `Stream.fromPubSub` for each client, and the two routes without anything else.
 */
import { createServer } from "node:http"
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as PubSub from "effect/PubSub"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { replayedEvent } from "../protocol.ts"
import { listenOptions, serve, status } from "./serve.ts"

const Command = Schema.Struct({ type: Schema.String, id: Schema.Number })

serve(async () => {
  const frames = await Effect.runPromise(PubSub.unbounded<string>())
  let backlog = ""

  const routes = HttpRouter.addAll([
    HttpRouter.route(
      "GET",
      "/events",
      Effect.sync(() =>
        HttpServerResponse.stream(
          Stream.make(`retry: 2000\n\n${backlog}`).pipe(
            Stream.concat(Stream.fromPubSub(frames)),
            Stream.encodeText
          ),
          { contentType: "text/event-stream" }
        )
      )
    ),
    HttpRouter.route(
      "POST",
      "/command",
      Effect.map(HttpServerRequest.schemaBodyJson(Command), ({ id }) =>
        HttpServerResponse.unsafeJson({ result: { id } })
      )
    ),
    HttpRouter.route(
      "GET",
      "/status",
      Effect.sync(() => HttpServerResponse.unsafeJson(status(0)))
    )
  ])

  const runtime = ManagedRuntime.make(
    HttpRouter.serve(routes, { disableListenLog: true, disableLogger: true }).pipe(
      HttpMiddleware.withTracerDisabledWhen(() => true),
      Layer.provideMerge(NodeHttpServer.layer(createServer, listenOptions))
    )
  )
  const { address } = await runtime.runPromise(HttpServer.HttpServer)
  if (address._tag !== "TcpAddress") {
    throw new Error("The server has no port")
  }
  return {
    port: address.port,
    publish: (name, payload) => {
      const frame = `event: ${name}\ndata: ${JSON.stringify(payload)}\n\n`
      if (name === replayedEvent) {
        backlog = frame
      }
      Effect.runSync(PubSub.publish(frames, frame))
    }
  }
})
