/**
 * The examples for programs of Effect: each is short, runs to its end, and prints what it should.
 */
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { format } from "node:util"
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"

const folder = fileURLToPath(new URL("../scratchpad/effect/", import.meta.url))

/** What each prints, among other things and in this order. */
const examples: Readonly<Record<string, ReadonlyArray<string>>> = {
  "command-bus": ["lamp.dim", "brightness: 0.4", "percent: Expected", "Known are: lamp.dim."],
  content: ["changed: true", "changed: false"],
  controller: ["Everything is set up.", "bright", "The lamp is off."],
  "event-bus": ["lamp:on { room: 'Hall 2' }", "lamp:off { room: 'Hall 2' }"],
  "http-transport": ["403 ", "Command not allowed", '200 {"result":"bright"}'],
  "ipc-client": ["Ready", "[ 'HTTP transport' ]", "Stopping"],
  "mounted-transport": ["Welcome to Hall 2", '{"result":"bright"}', "text/event-stream"],
  opentelemetry: ["changed: true"],
  "replay-backlog": ["event: greeting", 'data: "Welcome back"'],
  "table-server": ["\n200\n503\n200\n", "{ Settings: 3 }"],
  "table-source": ["records: 1", "2 [ 'Objects.json', 'Settings.json' ]", '"title": "Stars"'],
  "table-source-client": ["{ key: 'museum', value:", "NotFound"]
}

/** A collector of OpenTelemetry. */
const received: Array<string> = []
const collector = createServer(async (request, response) => {
  received.push(`${request.url} ${await text(request)}`)
  response.end("{}")
})

beforeAll(async () => {
  await once(collector.listen(0, "127.0.0.1"), "listening")
  const address = collector.address()
  if (address === null || typeof address === "string") throw new Error("The collector has no port.")
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${address.port}`
})

afterAll(() => void collector.close())

describe("an example in scratchpad/effect", () => {
  it("has a test", () => {
    const files = Object.keys(examples).map((name) => `${name}.ts`)
    expect(readdirSync(folder).sort()).toEqual(files.sort())
  })

  it.each(Object.entries(examples))("runs: %s", async (name, prints) => {
    const lines: Array<string> = []
    vi.spyOn(console, "log").mockImplementation((...parts) => void lines.push(format(...parts)))
    onTestFinished(() => void vi.restoreAllMocks())

    await import(`../scratchpad/effect/${name}.ts`)

    const printed = lines.join("\n")
    expect(inOrder(printed, prints)).toEqual(prints)
  })

  it.each(Object.keys(examples))(
    "is short, says how to run it, and needs nothing of the source: %s",
    (name) => {
      const source = readFileSync(`${folder}${name}.ts`, "utf8")
      expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(30)
      expect(source).toContain(`npx jiti scratchpad/effect/${name}.ts`)
      expect(source).not.toMatch(/from "\.|#dist/)
    }
  )

  it("exports the metrics and spans of what it did", () => {
    const of = (path: string) => received.filter((request) => request.startsWith(`${path} `)).join("\n")
    for (const metric of [
      "vitrine_content_fetches_total",
      "vitrine_content_fetch_duration_seconds",
      "vitrine_content_promotions_total",
      "vitrine_commands_total"
    ]) {
      expect(of("/v1/metrics")).toContain(`"name":"${metric}"`)
    }
    for (const span of ["CommandBus.dispatch", "Content.fetch", "Content.fetchSource", "Content.promote"]) {
      expect(of("/v1/traces")).toContain(`"name":"${span}"`)
    }
  })
})

/** Those of the texts that are there, each after the one before. */
const inOrder = (printed: string, texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  let at = 0
  return texts.filter((text) => {
    const found = printed.indexOf(text, at)
    at = found === -1 ? at : found + text.length
    return found !== -1
  })
}
