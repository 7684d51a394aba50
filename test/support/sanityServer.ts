/**
 * A stand-in of Sanity's API, with real GROQ: queries by GET and POST, perspectives, errors, and live events.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { evaluate, parse } from "groq-js"
import { holdConnection } from "../../src/testing/advancingClock.ts"

export interface SanityDocument {
  readonly _id: string
  readonly _type: string
  readonly [field: string]: unknown
}

export interface SanityRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
}

interface LiveMessage {
  readonly event: string
  readonly data: unknown
}

export const token = "sk-sanity-secret"

/** What is seen of the documents. */
const seen = (documents: ReadonlyArray<SanityDocument>, perspective: string) => {
  const isDraft = ({ _id }: SanityDocument) => _id.startsWith("drafts.")
  if (perspective === "raw") return documents
  const published = documents.filter((document) => !isDraft(document))
  if (perspective !== "drafts") return published
  const drafts = documents
    .filter(isDraft)
    .map((draft) => ({ ...draft, _id: draft._id.slice("drafts.".length), _originalId: draft._id }))
  return [...published.filter(({ _id }) => !drafts.some((draft) => draft._id === _id)), ...drafts]
}

export const make = Effect.fnUntraced(function* (
  initial: ReadonlyArray<SanityDocument>,
  { isPrivate = false }: { readonly isPrivate?: boolean } = {}
) {
  let documents = initial
  let revision = 0
  let refusal: ((response: ServerResponse) => void) | undefined
  let liveRefusal: ((response: ServerResponse) => void) | undefined
  const requests: Array<SanityRequest> = []
  let sent = 0
  const listeners = new Set<ServerResponse>()
  const connected = yield* Queue.unbounded<SanityRequest>()

  const answer = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

  const frame = ({ data, event }: LiveMessage, id: number) =>
    `event: ${event}\nid: e${id}\ndata: ${JSON.stringify(data)}\n\n`

  const listen = (request: SanityRequest, response: ServerResponse) => {
    if (liveRefusal !== undefined) return liveRefusal(response)
    response.socket?.once("close", holdConnection())
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(": hello\n\nevent: welcome\ndata: {}\n\n")
    listeners.add(response)
    response.once("close", () => listeners.delete(response))
    connected.unsafeOffer(request)
  }

  const query = async (
    { headers, method, url }: SanityRequest,
    incoming: IncomingMessage,
    response: ServerResponse
  ) => {
    if (refusal !== undefined) return refusal(response)
    if (isPrivate && headers.authorization !== `Bearer ${token}`) {
      return answer(response, headers.authorization === undefined ? 403 : 401, {
        statusCode: headers.authorization === undefined ? 403 : 401,
        error: headers.authorization === undefined ? "Forbidden" : "Unauthorized",
        message:
          headers.authorization === undefined
            ? "Insufficient permissions"
            : `Session not found ${headers.authorization}`
      })
    }
    if (!url.pathname.endsWith("/data/query/production")) {
      return answer(response, 404, {
        statusCode: 404,
        error: "Not Found",
        message: "Dataset not found"
      })
    }
    const posted = method === "POST" ? JSON.parse(await text(incoming)) : undefined
    const groq: string = posted?.query ?? url.searchParams.get("query") ?? ""
    const params = posted?.params ?? {}
    for (const [name, value] of url.searchParams) {
      if (name.startsWith("$")) params[name.slice(1)] = JSON.parse(value)
    }
    try {
      const tree = parse(groq, { params })
      const dataset = seen(documents, url.searchParams.get("perspective") ?? "published")
      const result: unknown = await (await evaluate(tree, { dataset, params })).get()
      answer(response, 200, { result, ms: 1 })
    } catch (error) {
      const position = error instanceof Error && "position" in error ? Number(error.position) : undefined
      answer(response, 400, {
        error:
          position === undefined
            ? { type: "queryError", description: String(error) }
            : {
                type: "queryParseError",
                description: "unexpected token",
                query: groq,
                start: position,
                end: position + 1
              }
      })
    }
  }

  const server = yield* Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((incoming, response) => {
        const { headers, method = "", socket, url = "" } = incoming
        socket.setMaxListeners(0).ref()
        response.once("close", () => socket.unref())
        const request = { method, url: new URL(url, "http://sanity"), headers }
        requests.push(request)
        if (request.url.pathname.includes("/live/events/")) listen(request, response)
        else if (request.url.pathname.startsWith("/images/")) {
          response
            .writeHead(200, { "content-type": "image/jpeg" })
            .end(Buffer.from("\xff\xd8\xff\xda\xff\xd9", "latin1"))
        } else void query(request, incoming, response)
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )

  const send = (message: LiveMessage) => {
    sent++
    for (const listener of listeners) listener.write(frame(message, sent))
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** All that came, in its order. */
    requests,
    /** Those for live events. */
    connected,
    documents: () => documents,
    set: (next: ReadonlyArray<SanityDocument>) => {
      documents = next
    },
    /** Writes a document, and says so. */
    put: (document: SanityDocument) => {
      revision++
      documents = [
        ...documents.filter(({ _id }) => _id !== document._id),
        {
          ...document,
          _rev: `r${revision}`,
          _updatedAt: new Date(Date.UTC(2026, 6) + revision).toISOString()
        }
      ]
      send({ event: "message", data: { tags: [`s1:${document._type}`] } })
    },
    send,
    /** Ends all event streams. */
    cut: () => {
      for (const listener of listeners) listener.destroy()
    },
    /** Answers queries otherwise. */
    refuse: (next: typeof refusal) => {
      refusal = next
    },
    refuseLive: (next: typeof liveRefusal) => {
      liveRefusal = next
    },
    answer
  }
})
