import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Stream from "effect/Stream"
import { createParser } from "eventsource-parser"
import { read, readEvents, start } from "../../../../src/layers/sources/sanity/eventStream.ts"

/** What another reader makes of it. */
const elsewhere = (text: string) => {
  const events: Array<{ event: string; data: string }> = []
  createParser({ onEvent: ({ data, event }) => events.push({ event: event || "message", data }) }).feed(text)
  return events
}

const line = FastCheck.oneof(
  FastCheck.constantFrom(
    "",
    ": comment",
    "data",
    "data:",
    "data: a",
    "data:  b: c",
    "event: restart",
    "event:",
    "id: 7"
  ),
  FastCheck.string().map((text) => text.replace(/[\r\n]/g, ""))
)
const ending = FastCheck.constantFrom("\n", "\r\n", "\r")
const stream = FastCheck.array(FastCheck.tuple(line, ending)).map((lines) => `${lines.flat().join("")}\n\n`)

/** Cuts a text into parts. */
const parts = (text: string, lengths: ReadonlyArray<number>): ReadonlyArray<string> => {
  const cut: Array<string> = []
  let rest = text
  for (const length of lengths) {
    cut.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return [...cut, rest]
}

describe("a stream of Server-Sent Events", () => {
  it.prop(
    "is read as eventsource-parser reads it, whatever parts it comes in",
    [stream, FastCheck.array(FastCheck.integer({ min: 0, max: 9 }))],
    ([text, lengths]) => {
      let unread = start
      const events = parts(text, lengths).flatMap((part) => {
        const step = read(unread, part)
        unread = step.unread
        return step.events
      })
      expect(events.map(({ data, event }) => ({ event, data }))).toEqual(elsewhere(text))
    }
  )

  it.effect("remembers the id of the last event that had one", () =>
    Effect.gen(function* () {
      const text = "id: 1\ndata: a\n\ndata: b\n\nid: 2\n\ndata: c\n\n"
      const events = yield* Stream.runCollect(readEvents(Stream.make(text)))
      expect(Chunk.toArray(events).map(({ id }) => id)).toEqual(["1", "1", "2"])
    })
  )

  it.effect("is given up where an event has no end", () =>
    Effect.gen(function* () {
      const endless = Stream.make(`data: ${"x".repeat(64 * 1024)}`).pipe(Stream.forever)
      const error = yield* Effect.flip(Stream.runDrain(readEvents(endless)))
      expect(error.message).toBe("one of its events has more than 1048576 characters")
      const empty = Stream.make("data:\n".repeat(50_000)).pipe(Stream.forever)
      expect(yield* Effect.flip(Stream.runDrain(readEvents(empty)))).toEqual(error)
    })
  )
})
