import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as SseFrame from "../../../src/layers/http/SseFrame.ts"
import { messages } from "../../support/eventStream.ts"

/** Any text, lone surrogates included, rich in what the format gives a meaning to. */
const text = FastCheck.array(
  FastCheck.oneof(
    FastCheck.constantFrom(
      "\n",
      "\r",
      "\r\n",
      ":",
      " ",
      "data: ",
      "event: ",
      "id: ",
      "\0",
      "\ufeff",
      "\u2028",
      "\ud800"
    ),
    FastCheck.string({ unit: "binary", maxLength: 5 })
  ),
  { maxLength: 12 }
).map((parts) => parts.join(""))

const name = text.map((text) => text.replace(/[\r\n\0]/g, "")).filter((name) => name !== "")

/** What text is after it has been through UTF-8, which has no lone surrogates. */
const sent = (text: string) => Buffer.from(text).toString()

describe("SseFrame", () => {
  it.prop(
    "is parsed to the same name and data, with line feeds between lines",
    [FastCheck.array(FastCheck.tuple(name, text), { maxLength: 4 })],
    ([events]) => {
      const stream =
        SseFrame.retry + events.map(([name, data]) => SseFrame.ping + SseFrame.event(name, data)).join("")
      expect(messages(Buffer.from(stream))).toEqual(
        events.map(([name, data]) => ({ event: sent(name), data: sent(data).replace(/\r\n?/g, "\n") }))
      )
    },
    { fastCheck: { numRuns: 500 } }
  )

  it("has the form of the specification", () => {
    expect(SseFrame.retry).toBe("retry: 2000\n\n")
    expect(SseFrame.ping).toBe(": ping\n\n")
    expect(SseFrame.event("content:fetch:start", '{"a":1}')).toBe(
      'event: content:fetch:start\ndata: {"a":1}\n\n'
    )
    expect(SseFrame.event("a", "1\n2\r3\r\n\n")).toBe(
      "event: a\ndata: 1\ndata: 2\ndata: 3\ndata: \ndata: \n\n"
    )
    expect(SseFrame.event("a", "")).toBe("event: a\ndata: \n\n")
  })

  it.prop("refuses exactly the names with a line break or a NUL", [text], ([text]) => {
    expect(SseFrame.isEventName(text)).toBe(![..."\r\n\0"].some((bad) => text.includes(bad)))
  })

  it.prop("formats the same for others as for itself", [name, text], ([name, data]) => {
    expect(SseFrame.formatSseEvent(name, data)).toBe(SseFrame.event(name, data))
  })

  it.each([
    ["text", "one\ntwo", "event: a\ndata: one\ndata: two\n\n"],
    ["an object", { versionId: "20261121T093000Z" }, 'event: a\ndata: {"versionId":"20261121T093000Z"}\n\n'],
    ["nothing", undefined, "event: a\ndata: null\n\n"]
  ])("formats %s", (_, data, frame) => {
    expect(SseFrame.formatSseEvent("a", data)).toBe(frame)
  })

  it.each(["a\nb", "a\rb", "a\0b"])("does not format an event named %j", (name) => {
    expect(() => SseFrame.formatSseEvent(name, "x")).toThrow(TypeError)
  })
})
