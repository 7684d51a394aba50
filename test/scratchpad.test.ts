/**
 * The examples for programs of Effect: each is short, runs to its end, and prints what it should.
 */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { format } from "node:util"
import { describe, expect, it, onTestFinished, vi } from "vitest"

const folder = fileURLToPath(new URL("../scratchpad/effect/", import.meta.url))

/** What each prints, among other things and in this order. */
const examples: Readonly<Record<string, ReadonlyArray<string>>> = {
  "command-bus": ["lamp.dim", "brightness: 0.4", "percent: Expected", "Known are: lamp.dim."],
  content: ["changed: true", "changed: false"],
  controller: ["Everything is set up.", "bright", "The lamp is off."],
  "event-bus": ["lamp:on { room: 'Hall 2' }", "lamp:off { room: 'Hall 2' }"],
  "http-transport": ["403 ", "is not allowed over HTTP", '200 {"result":"bright"}'],
  "ipc-client": ["Ready", "[ 'HTTP transport' ]", "Stopping"],
  "replay-backlog": ["event: greeting", 'data: "Welcome back"'],
  "table-server": ["\n200\n503\n200\n", "{ Settings: 3 }"],
  "table-source": ["records: 1", "2 [ 'Objects.json', 'Settings.json' ]", '"title": "Stars"'],
  "table-source-client": ["{ key: 'museum', value:", "NotFound"]
}

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
      const text = readFileSync(`${folder}${name}.ts`, "utf8")
      expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(30)
      expect(text).toContain(`npx jiti scratchpad/effect/${name}.ts`)
      expect(text).not.toMatch(/from "\.|#dist/)
    }
  )
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
