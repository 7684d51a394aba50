import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { type Line, makeLineReader, tooLong } from "../../../src/layers/ipc/lines.ts"
import { memory } from "../../support/memory.ts"

const limit = 12

const readAll = (pieces: ReadonlyArray<Uint8Array>, ends: boolean) => {
  const { end, next, push } = makeLineReader(limit)
  const lines: Array<Line> = []
  const takeAll = () => {
    for (let line = next(); line !== undefined; line = next()) {
      lines.push(line)
    }
  }
  for (const piece of pieces) {
    push(piece)
    takeAll()
  }
  if (ends) {
    end()
    takeAll()
  }
  return lines.map((line) => (line === tooLong ? line : Buffer.from(line).toString("latin1")))
}

/** The same by other means: the whole text, taken apart at once. */
const expected = (text: string, ends: boolean) =>
  text
    .split("\n")
    .flatMap((line, index, { length }) =>
      line.length > limit ? [tooLong] : index === length - 1 && !ends ? [] : [line.replace(/\r$/, "")]
    )
    .filter((line) => line !== "")

const byte = FastCheck.oneof(
  { weight: 4, arbitrary: FastCheck.constantFrom("a", "b", "\u00e9") },
  { weight: 1, arbitrary: FastCheck.constantFrom("\n", "\r", "\r\n", "\n\n") }
)
const text = FastCheck.array(byte, { maxLength: 120 }).map((bytes) => bytes.join(""))

const cut = (text: string, places: ReadonlyArray<number>) => {
  const bytes = Buffer.from(text, "latin1")
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

describe("makeLineReader", () => {
  it("gives the same lines wherever the bytes are cut, and the last one where nothing more comes", () => {
    FastCheck.assert(
      FastCheck.property(
        text,
        FastCheck.array(FastCheck.nat()),
        FastCheck.boolean(),
        (text, places, ends) => {
          expect(readAll(cut(text, places), ends)).toEqual(expected(text, ends))
        }
      ),
      { numRuns: 1000 }
    )
  })

  it.live("gives a line that comes byte by byte, and keeps no object for each", () =>
    Effect.gen(function* () {
      const { next, push } = makeLineReader(65_536)
      const before = yield* memory
      const line = "0123456789abcdef".repeat(4096)
      for (const byte of Buffer.from(line)) {
        push(Uint8Array.of(byte))
        next()
      }
      expect((yield* memory) - before).toBeLessThan(2 * 1024 * 1024)
      push(Buffer.from("\n"))
      expect(Buffer.from(next() ?? "").toString()).toBe(line)
    })
  )

  it("tells of a line that is too long before it ends, once, and goes on with the next", () => {
    const { next, push } = makeLineReader(limit)
    push(Buffer.alloc(limit, "x"))
    expect(next()).toBe(undefined)
    push(Buffer.from("x"))
    expect(next()).toBe(tooLong)
    push(Buffer.alloc(100, "x"))
    push(Buffer.alloc(100, "x"))
    expect(next()).toBe(undefined)
    push(Buffer.from("x\nnext\n"))
    expect(Buffer.from(next() ?? "").toString()).toBe("next")
  })
})
