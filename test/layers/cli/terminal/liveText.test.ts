/**
 * What a terminal shows of a text that is replaced in place.
 */
import { Writable } from "node:stream"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { makeLiveText } from "../../../../src/layers/cli/terminal/liveText.ts"

const control = /\u001b\[(\??)(\d*)([A-Za-z])|[\s\S]/gu

/**
 * A terminal that knows what this needs, and breaks its rows anew when it gets narrower. What has scrolled out of it
 * does not come back.
 */
const makeTerminal = (columns: number, rows: number) => {
  const colours: Array<string> = []
  let lines = ["$", ""]
  let row = 1
  let column = 0
  let top = 0
  let wraps = true

  const lineFeed = () => {
    row += 1
    column = 0
    lines[row] ??= ""
    top = Math.max(top, row - stream.rows + 1)
  }

  const put = (character: string) => {
    if (column === stream.columns) {
      if (wraps) lineFeed()
      else column -= 1
    }
    const line = (lines[row] ?? "").padEnd(column)
    lines[row] = line.slice(0, column) + character + line.slice(column + 1)
    column += 1
  }

  const perform = (sequence: string, mode: string, number: string, command: string) => {
    if (mode === "?") {
      if (number === "7") wraps = command === "h"
    } else if (command === "A") {
      row = Math.max(top, row - Number(number))
    } else if (command === "G") {
      column = Number(number) - 1
    } else if (command === "J") {
      lines = [...lines.slice(0, row), (lines[row] ?? "").slice(0, column)]
    } else if (command === "m") {
      colours.push(sequence)
    } else {
      throw new Error(`Unknown to this terminal: ${JSON.stringify(sequence)}`)
    }
  }

  const stream = Object.assign(
    new Writable({
      decodeStrings: false,
      write: (chunk, _encoding, done) => {
        for (const [sequence, mode = "", number = "", command] of String(chunk).matchAll(control)) {
          if (command !== undefined) perform(sequence, mode, number, command)
          else if (sequence === "\n") lineFeed()
          else put(sequence)
        }
        done()
      }
    }),
    { isTTY: true, columns, rows }
  )

  const resize = (columns: number, rows: number) => {
    const broken = lines.map((line) => line.match(new RegExp(`.{1,${columns}}`, "gu")) ?? [""])
    row = broken.slice(0, row).flat().length
    top = Math.max(broken.slice(0, top).flat().length, row - rows + 1)
    lines = broken.flat()
    Object.assign(stream, { columns, rows })
  }

  return {
    stream,
    resize,
    colours,
    /** What is seen, but for the row of the cursor at the end. */
    seen: () => {
      expect({ row, column }).toEqual({ row: lines.length - 1, column: 0 })
      return lines.slice(top, -1)
    }
  }
}

const red = (text: string) => `\u001b[31m${text}\u001b[39m`

describe("text on a terminal", () => {
  it.scoped("replaces the previous text", () =>
    Effect.gen(function* () {
      const { seen, stream } = makeTerminal(20, 10)
      const show = yield* makeLiveText(stream)
      yield* show("one\ntwo\nthree")
      expect(seen()).toEqual(["$", "one", "two", "three"])
      yield* show("four\n\nfive")
      expect(seen()).toEqual(["$", "four", "", "five"])
      yield* show("six")
      expect(seen()).toEqual(["$", "six"])
    })
  )

  it.scoped("wraps between words", () =>
    Effect.gen(function* () {
      const { colours, seen, stream } = makeTerminal(10, 10)
      const show = yield* makeLiveText(stream)
      yield* show(`state\n${red("no network: timed out")}\n0123456789\nend`)
      const rows = ["$", "state", "no ", "network: ", "timed out", "0123456789", "end"]
      expect(seen()).toEqual(rows)
      expect(colours).toEqual(Array.from({ length: 3 }, () => ["\u001b[31m", "\u001b[39m"]).flat())
      yield* show(`state\n${red("no network: timed out")}\n0123456789\nend`)
      expect(seen()).toEqual(rows)
      yield* show("fine")
      expect(seen()).toEqual(["$", "fine"])
    })
  )

  it.scoped("counts two columns for a wide character", () =>
    Effect.gen(function* () {
      const { seen, stream } = makeTerminal(7, 10)
      const show = yield* makeLiveText(stream)
      yield* show("展示室の照明")
      expect(seen()).toEqual(["$", "展示室", "の照明"])
    })
  )

  it.scoped("counts no column for a combining mark", () =>
    Effect.gen(function* () {
      let written = ""
      const stream = new Writable({
        write: (chunk, _encoding, done) => {
          written += String(chunk)
          done()
        }
      })
      const show = yield* makeLiveText(Object.assign(stream, { isTTY: true, columns: 4, rows: 10 }))
      yield* show("x\u0301".repeat(4))
      expect(written).toContain(`${"x\u0301".repeat(4)}\n`)
    })
  )

  it.scoped("counts the rows that do not fit on the screen, without the colours before", () =>
    Effect.gen(function* () {
      const { colours, seen, stream } = makeTerminal(10, 5)
      const show = yield* makeLiveText(stream)
      yield* show(`one\n${red("0123456789".repeat(9))}`)
      expect(seen()).toEqual(["one", "0123456789", "0123456789", "… (7 more "])
      expect(colours).toEqual(Array.from({ length: 2 }, () => ["\u001b[31m", "\u001b[39m"]).flat())
      yield* show("one\ntwo\nthree\nfour")
      expect(seen()).toEqual(["one", "two", "three", "four"])
    })
  )

  it("leaves nothing behind when the terminal is resized", () => {
    const size = FastCheck.record({
      columns: FastCheck.integer({ min: 1, max: 30 }),
      rows: FastCheck.integer({ min: 2, max: 12 })
    })
    const lengths = FastCheck.array(FastCheck.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 10 })
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.record({ size, lengths }), { minLength: 1, maxLength: 8 }),
        (steps) => {
          const { resize, seen, stream } = makeTerminal(10, 10)
          const check = Effect.gen(function* () {
            const show = yield* makeLiveText(stream)
            for (const [step, { lengths, size }] of steps.entries()) {
              const lines = lengths.map((length) => "abcdefgh".charAt(step).repeat(length))
              resize(size.columns, size.rows)
              yield* show(lines.join("\n"))
              const rows = seen()
              if (rows[0] === "$") {
                rows.shift()
              }
              const whole = lines.flatMap(
                (line) => line.match(new RegExp(`.{1,${size.columns}}`, "g")) ?? [""]
              )
              const room = size.rows - 1
              const mark = `… (${whole.length - room + 1} more lines)`.slice(0, size.columns)
              expect(rows).toEqual(whole.length <= room ? whole : [...whole.slice(0, room - 1), mark])
            }
          })
          Effect.runSync(Effect.scoped(check))
        }
      )
    )
  })
})

it.scoped("prints each changed text after the other if the output is not a terminal", () =>
  Effect.gen(function* () {
    const { seen, stream } = makeTerminal(20, 10)
    const show = yield* makeLiveText(Object.assign(stream, { isTTY: false }))
    yield* show("one")
    yield* show("one")
    yield* show("two")
    expect(seen()).toEqual(["$", "one", "", "two"])
  })
)
