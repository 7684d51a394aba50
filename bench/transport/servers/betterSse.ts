/**
 * The event stream by better-sse: one channel that broadcasts.
 */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createChannel, createSession } from "better-sse"
import { replayedEvent } from "../protocol.ts"
import { listenOptions, serve } from "./serve.ts"

serve(async ({ keepAliveMs }) => {
  const channel = createChannel()
  let replayed: unknown

  const server = createServer(async (request, response) => {
    const session = await createSession(request, response, { keepAlive: keepAliveMs, retry: 2000 })
    session.push(replayed, replayedEvent)
    channel.register(session)
  })

  server.listen(listenOptions)
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    publish: (name, payload) => {
      if (name === replayedEvent) {
        replayed = payload
      }
      channel.broadcast(payload, name)
    }
  }
})
