/**
 * The conversations that the documentation shows, and its table of status codes, over a real socket.
 */

import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import {
  Content,
  HttpClientNode,
  type HttpTransportConfig,
  RequestPacingMemory,
  VersionStoreDisk
} from "../../src/index.ts"
import { below, codeIn, placeOf, read, rowsOf, samplesOf } from "../support/documents.ts"
import { format, parse } from "../support/rawHttp.ts"
import * as transport from "../support/transport.ts"

/** The transport with content's commands, and no content yet. */
const layerWith = (options: HttpTransportConfig) =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const content = Content.layer({ sources: [] }).pipe(
        Layer.provide([
          VersionStoreDisk.layer({ directory }),
          RequestPacingMemory.layer,
          HttpClientNode.layer
        ])
      )
      return Layer.provideMerge(content, transport.layer(options))
    })
  ).pipe(Layer.provide(NodeContext.layer))

const layer = layerWith({ maxClients: 1 })

const page = "docs/wire.md"

/** Shown with one line feed for each line end of HTTP. */
const onTheWire = (head: string, body: string) => `${head.replaceAll("\n", "\r\n")}\r\n\r\n${body}`

describe("a request and its response in the documentation", () => {
  const samples = samplesOf(page)
    .filter(({ language }) => language === "http")
    .map((sample) => [placeOf(sample), sample.text] as const)

  it.effect.each(samples)("are what the transport receives and sends: %s", ([, text]) =>
    Effect.gen(function* () {
      const [request = "", response = ""] = text.split(/\n\n(?=HTTP)/)
      const [requestHead = "", requestBody = ""] = request.split("\n\n")
      const [responseHead = "", ...responseBody] = response.split("\n\n")
      const body = responseBody.join("\n\n")

      const connection = yield* transport.connect
      connection.send(onTheWire(requestHead, requestBody))
      const received = yield* connection.received.until(
        (text) => text.includes("\r\n\r\n") && text.includes(body.trimEnd())
      )
      const shown = parse(onTheWire(responseHead, body))
      expect(received.split("\r\n")[0]).toBe(responseHead.split("\n")[0])
      expect(parse(received)).toMatchObject({ status: shown.status, headers: shown.headers })
      expect(parse(received).body.trimEnd()).toBe(body.trimEnd())
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})

/** What the table says in words. */
const requests: Readonly<Record<string, string | Uint8Array>> = {
  "a target that is no path": format({ target: "*" }),
  "two `Host` headers": "GET /status HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
  "what is not HTTP": "Good morning.\r\n\r\n",
  "a body of 65,537 bytes": format({ method: "POST", target: "/command", body: "x".repeat(65_537) }),
  "headers of more than 16 KiB": format({ target: "/status", headers: { Cookie: "x".repeat(16 * 1024) } }),
  "a stream more than `maxClients`": format({ target: "/events" })
}

/** A request line with a body, if there is one, and headers behind it, each as code. */
const requestOf = (cell: string) => {
  const [line = "", ...fields] = codeIn(cell)
  const [, method, target = "", body = ""] = /^([A-Z]+) (\S+) ?(.*)$/.exec(line) ?? []
  const headers = Object.fromEntries(fields.map((field) => field.split(/: (.*)/, 2)))
  return requests[cell] ?? (method === undefined ? undefined : format({ method, target, body, headers }))
}

/** Sends what is in the cell, and holds the response against what is said of it. */
const check = Effect.fnUntraced(function* (
  status: string | undefined,
  cell: string,
  message: string | undefined
) {
  const request = requestOf(cell)
  if (request === undefined) return expect.fail(`The test has no request for this cell: ${cell}`)
  const response = parse(yield* transport.exchange(request))
  expect(String(response.status)).toBe(status)
  const error = response.status < 400 ? undefined : JSON.parse(response.body).error.message
  expect(error).toBe(codeIn(message ?? "")[0])
})

describe("the table of status codes", () => {
  const rows = rowsOf(below("## 7. Status codes", read(page)))

  /** Time that passes by Node's clock: the tests of the server have it. */
  const slow = (cell: string) => / take(s)? more than /.test(cell)

  it.effect.each(rows.filter(([, request = ""]) => !slow(request)))(
    "has the status and message of the response: %s for %s",
    (row) =>
      Effect.gen(function* () {
        const [status, cell = "", message] = row
        yield* transport.openEvents
        yield* check(status, cell, message)
      }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it("has the messages of timeouts", () => {
    const source = read("src/layers/http/HttpServer.ts")
    const messages = rows.filter(([, request = ""]) => slow(request)).flatMap((row) => codeIn(row[2] ?? ""))
    expect(messages.length).toBe(2)
    for (const message of messages) {
      expect(source).toContain(message)
    }
  })
})

describe("the table of options that reject requests", () => {
  const rows = rowsOf(below("## 5. Who may do what", read(page)))

  it.effect.each(rows)(
    "has the status and message of the response: %s, %s",
    ([option = "", cell = "", status, message]) => {
      const [, name = "", value = ""] = /^`(\w+): (.*)`$/.exec(option) ?? []
      return check(status, cell, message).pipe(
        Effect.provide(layerWith({ [name]: JSON.parse(value) })),
        Effect.scoped
      )
    }
  )

  it("has every such option", () => {
    const documented = rows.flatMap(([option = ""]) => option.match(/\w+(?=:)/) ?? [])
    const declared = rowsOf(below("### `httpTransport({ … })`", read("docs/api.md")))
      .filter(([, , , meaning = ""]) => /\b(401|403|415)\b/.test(meaning))
      .flatMap(([name = ""]) => codeIn(name))
    expect([...new Set(documented)].sort()).toEqual(declared.sort())
  })
})
