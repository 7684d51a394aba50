/**
 * Common handwritten code: a `node:http` server that writes each frame, as a string, to each response.
 */
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { replayedEvent, type ServerOptions } from "../protocol.ts"
import { listenOptions, type Server, status } from "./serve.ts"

export const start = async ({ keepAliveMs }: ServerOptions): Promise<Server> => {
  const clients = new Set<ServerResponse>()
  let backlog = ""

  const server = createServer((request, response) => {
    switch (`${request.method} ${request.url}`) {
      case "GET /events":
        response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" })
        response.write(`retry: 2000\n\n${backlog}`)
        clients.add(response)
        response.on("close", () => clients.delete(response))
        break
      case "POST /command": {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk) => chunks.push(chunk))
        request.on("end", () => {
          const { id } = JSON.parse(Buffer.concat(chunks).toString())
          respond(response, { result: { id } })
        })
        break
      }
      case "GET /status":
        respond(response, status(clients.size))
        break
      default:
        response.writeHead(404).end()
    }
  })

  const broadcast = (frame: string) => {
    for (const client of clients) {
      client.write(frame)
    }
  }
  setInterval(() => broadcast(": ping\n\n"), keepAliveMs)

  server.listen(listenOptions)
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    publish: (name, payload) => {
      const frame = `event: ${name}\ndata: ${JSON.stringify(payload)}\n\n`
      if (name === replayedEvent) {
        backlog = frame
      }
      broadcast(frame)
    }
  }
}

const respond = (response: ServerResponse, body: unknown) => {
  response.setHeader("Content-Type", "application/json")
  response.end(JSON.stringify(body))
}
