/**
 * What stands in front of a stand-in: it hands on requests, and changes the answers as a rule needs them.
 */
import { request as ask, type IncomingHttpHeaders } from "node:http"
import { buffer } from "node:stream/consumers"
import * as Effect from "effect/Effect"
import mime from "mime"
import { make, type ReceivedRequest } from "../support/ScriptedServer.ts"

/** An answer to a request, or a file of a folder, which has only a path and a body. */
export interface Given {
  /** The path and query of the request, or the path of the file. */
  readonly url: string
  /** The headers of the request. */
  readonly asked: IncomingHttpHeaders
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export type Change = (given: Given) => Partial<Omit<Given, "url" | "asked">>

export const unchanged: Change = () => ({})

const volatile = ["content-length", "transfer-encoding", "connection", "keep-alive"]

/** `last` is the world that was given last: its files are at `/files/`, and its `change` is that of the answers. */
export const startFront = (inner: string, last: Last) =>
  make((response, { headers, method, url }: ReceivedRequest) => {
    const send = ({ status, body, ...given }: Given) => {
      const changed = { ...given, status, body, ...last.change()({ ...given, status, body }) }
      const kept = Object.entries(changed.headers).filter(
        ([name]) => !volatile.includes(name) && !(isChanged && name === "etag")
      )
      response.writeHead(changed.status, Object.fromEntries(kept)).end(changed.body)
    }
    const isChanged = last.change() !== unchanged
    const [, name] = /^\/files\/([^?]*)/.exec(url) ?? []
    if (name !== undefined) return send({ url, asked: headers, ...fileOf(last, decodeURIComponent(name)) })
    const { "if-modified-since": _, "if-none-match": __, ...others } = headers
    const passed = { method, headers: isChanged ? others : headers, agent: false }
    response.req.pipe(
      ask(`${inner}${url}`, passed, (answer) => {
        void buffer(answer).then((body) =>
          send({ url, asked: headers, status: answer.statusCode ?? 500, headers: answer.headers, body })
        )
      }).once("error", () => response.destroy())
    )
  }).pipe(Effect.map(({ url }) => ({ url })))

const fileOf = (last: Last, name: string): Pick<Given, "status" | "headers" | "body"> => {
  const bytes = last.files()[name]
  return bytes === undefined
    ? { status: 404, headers: { "content-type": "text/plain" }, body: Buffer.from("There is no such file.") }
    : { status: 200, headers: { "content-type": typeOf(name) }, body: Buffer.from(bytes) }
}

export const typeOf = (path: string) => mime.getType(path) ?? "application/octet-stream"

export interface Last {
  readonly change: () => Change
  readonly files: () => Readonly<Record<string, string | Uint8Array>>
}
