/**
 * The token appears nowhere, in whatever form a server sends it back: not in a log, an error, an event, the state, the status,
 * a span, a metric or a file. Signed links are in no span and no metric either.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { tableSource } from "../../../../src/index.ts"
import * as ControllerStateMemory from "../../../../src/layers/controller/ControllerStateMemory.ts"
import * as httpClient from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as CommandBusMemory from "../../../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../../../src/layers/memory/EventBusMemory.ts"
import * as ReplayBacklogMemory from "../../../../src/layers/memory/ReplayBacklogMemory.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { hangUp, holding, json, text } from "../../../support/ScriptedServer.ts"
import {
  echo,
  makeWitness,
  token,
  tokenInUrl,
  tracesIn,
  watchedFetch
} from "../../../support/secretWitness.ts"
import { temporaryFolder } from "../../../support/temporaryFolder.ts"

/** The signature that makes a link to a file valid for everybody. */
const signature = "signature=7c1d9e4f"

const record = (attachment: string, url: string) => ({
  id: "rec1",
  fields: { Name: "Astrolabe", Picture: [{ id: attachment, url, filename: "a.txt" }] }
})

const isList = ({ url }: ScriptedServer.ReceivedRequest): boolean => url.includes("pageSize")

const platform = Layer.mergeAll(
  NodeContext.layer,
  httpClient.layer,
  EventBusMemory.layer,
  CommandBusMemory.layer,
  ReplayBacklogMemory.layer,
  ControllerStateMemory.layer("persistent")
)

it.scoped("a token appears nowhere, in whatever form a server sends it back", () =>
  Effect.gen(function* () {
    const { everything, see, seen } = makeWitness()
    const files = yield* ScriptedServer.make((response, { url }) =>
      url.startsWith("/expired") ? response.writeHead(403).end() : response.end("file")
    )
    const page = json(200, { records: [record("att1", `${files.url}/a?${signature}`)] })
    const withExpiredLink = json(200, { records: [record("att2", `${files.url}/expired?${signature}`)] })
    let answer = page
    const sent: Array<string> = []
    const server = yield* ScriptedServer.make((response, request) => {
      sent.push(String(request.headers.authorization))
      answer(response, request)
    })
    const { directory } = yield* temporaryFolder()

    yield* Effect.gen(function* () {
      const source = tableSource({
        id: "exhibits",
        baseId: "app1",
        apiKey: token,
        endpointUrl: server.url,
        tables: ["Objects"]
      })
      const fetch = yield* watchedFetch(source, directory, see)

      expect(Exit.isSuccess(yield* fetch)).toBe(true)

      const hostile: ReadonlyArray<readonly [string, ScriptedServer.Answer]> = [
        ["refused", json(401, { error: { type: token, message: echo } })],
        ["refused as text", text(403, echo)],
        ["refused on a page", text(404, `<html><title>${echo}</title></html>`)],
        ["refused on a long page", text(404, `${"<p>".repeat(1360)}${token}`)],
        ["refused in a list", json(422, { errors: [{ error: tokenInUrl, message: echo }] })],
        ["refused for a view", json(422, { error: { type: "VIEW_NAME_NOT_FOUND", message: echo } })],
        ["penalised", json(429, { error: echo }, { "retry-after": tokenInUrl })],
        ["spent", json(429, { error: { type: "PUBLIC_API_BILLING_LIMIT_EXCEEDED", message: echo } })],
        ["failed", text(500, `<h1>${echo}</h1>`)],
        ["forgotten", json(422, { error: { type: "LIST_RECORDS_ITERATOR_NOT_AVAILABLE", message: echo } })],
        [
          "redirected",
          text(302, echo, { location: `http://${tokenInUrl}@localhost/${tokenInUrl}?${tokenInUrl}` })
        ],
        ["no JSON", text(200, echo)],
        ["broken JSON", text(200, `{"records":[{"id":${token}}]}`)],
        ["JSON cut off", text(200, `{"records":[],"offset":"${token.slice(0, 9)}`)],
        ["wrong JSON", json(200, { records: echo, [token]: token })],
        ["a wrong record", json(200, { records: [{ id: "rec1", fields: echo }] })],
        ["the same offset", json(200, { records: [], offset: token })],
        ["compressed", text(200, echo, { "content-encoding": tokenInUrl })],
        ["hung up", hangUp],
        ["no HTTP", ({ socket }) => void socket?.end(echo)],
        ["a broken header", ({ socket }) => void socket?.end(`HTTP/1.1 200 OK\r\n${token}\r\n\r\n`)],
        ["stalled", holding((response) => response.writeHead(200).write(`{"records":"${token}`))],
        [
          "another record",
          (response, request) =>
            (isList(request) ? withExpiredLink : json(200, { id: echo, fields: {} }))(response, request)
        ],
        [
          "a record that has it, without its file",
          json(200, {
            records: [
              {
                id: token,
                fields: { [token]: [{ id: token, url: `${files.url}/expired`, filename: `${token}.txt` }] }
              }
            ]
          })
        ],
        [
          "a file that is no longer there",
          (response, request) =>
            (isList(request) ? withExpiredLink : json(404, { error: { type: echo } }))(response, request)
        ]
      ]
      for (const [name, hostileAnswer] of hostile) {
        const before = seen.length
        answer = hostileAnswer
        const exit = yield* fetch
        expect([name, Exit.isFailure(exit)]).toEqual([name, true])
        expect([name, tracesIn(seen.slice(before).join("\n"))]).toEqual([name, []])
      }

      answer = page
      expect(Exit.isSuccess(yield* fetch)).toBe(true)
    }).pipe(Effect.provide(everything))

    const fileSystem = yield* FileSystem.FileSystem
    const names = yield* fileSystem.readDirectory(directory, { recursive: true })
    for (const name of names) {
      const path = `${directory}/${name}`
      const { type } = yield* fileSystem.stat(path)
      see("file", [name, type === "File" ? yield* fileSystem.readFileString(path) : ""])
    }

    see(
      "metrics",
      (yield* Metric.snapshot).map(({ metricKey }) => [metricKey.name, metricKey.tags])
    )

    const isOfSpanOrMetric = (shown: string) => /^(span|attribute|links|metrics)/.test(shown)
    expect(seen.filter(isOfSpanOrMetric).filter((shown) => shown.includes(signature))).toEqual([])
    const all = seen.join("\n")
    expect(tracesIn(all)).toEqual([])
    // Makes sure that the test can fail: the responses contained the token, and everything was watched.
    expect(new Set(sent)).toEqual(new Set([`Bearer ${token}`]))
    expect(tracesIn(echo).length).toBeGreaterThan(50)
    for (const shown of [
      "log: ",
      "span end: ",
      "event: ",
      "state: ",
      "status: ",
      "failure: ",
      "Objects.json",
      "<apiKey>",
      "content:fetch:error",
      signature,
      "vitrine_content_fetches_total",
      "vitrine_commands_total",
      "DocumentSource.read",
      "TableSourceClient.listPage"
    ]) {
      expect(all).toContain(shown)
    }
  }).pipe(Effect.provide(platform))
)
