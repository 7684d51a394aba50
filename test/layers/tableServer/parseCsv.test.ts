import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { parseCsv } from "../../../src/layers/tableServer/parseCsv.ts"

const parse = (text: string) => parseCsv("Objects.csv", text)
const mistake = (text: string) =>
  Either.match(parse(text), { onLeft: ({ message }) => message, onRight: () => "no mistake" })

const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`
const write = (lines: ReadonlyArray<ReadonlyArray<string>>, lineEnd: string) =>
  lines.map((cells) => `${cells.map(quote).join(",")}${lineEnd}`).join("")

describe("parseCsv", () => {
  it.prop(
    "reads back what was written, with any line end",
    [
      FastCheck.uniqueArray(FastCheck.string({ minLength: 1 }), { minLength: 1, maxLength: 5 }).chain(
        (header) =>
          FastCheck.record({
            header: FastCheck.constant(header),
            rows: FastCheck.array(
              FastCheck.array(FastCheck.string(), { minLength: header.length, maxLength: header.length }),
              { maxLength: 10 }
            )
          })
      ),
      FastCheck.constantFrom("\n", "\r\n", "\r")
    ],
    ([{ header, rows }, lineEnd]) => {
      const { fieldNames, rows: parsed } = Either.getOrThrow(parse(write([header, ...rows], lineEnd)))
      assert.deepStrictEqual(fieldNames, header)
      assert.deepStrictEqual(
        parsed.map(({ cells }) => header.map((name) => cells[name])),
        rows
      )
    }
  )

  it("keeps a blank row and skips an empty line, with line ends mixed", () => {
    const { rows } = Either.getOrThrow(parse("a,b\n1,2\r\n\r\n,\n3,4"))
    assert.deepStrictEqual(
      rows.map(({ cells }) => [cells.a, cells.b]),
      [
        ["1", "2"],
        ["", ""],
        ["3", "4"]
      ]
    )
  })

  it("reads a column of attachments as the paths of files", () => {
    const content = Either.getOrThrow(parse('a,b (attachments)\n1,"x y.png\r\n\n p/q.svg"\n2,\n'))
    assert.deepStrictEqual(content, {
      fieldNames: ["a", "b"],
      rows: [
        { cells: { a: "1", b: [{ file: "x y.png" }, { file: "p/q.svg" }] } },
        { cells: { a: "2", b: [] } }
      ]
    })
  })

  it.each([
    ["a,a (attachments)\n1,2\n", /^Objects\.csv, line 1: two columns are named "a"/],
    ["", /^Objects\.csv, line 1: the header line/],
    ["a,,c\n1,2,3\n", /^Objects\.csv, line 1: column 2 has no name/],
    ["a,b,a\n1,2,3\n", /^Objects\.csv, line 1: two columns are named "a"/],
    ['a,b\n"1\n1",2\n3\n', /^Objects\.csv, line 4: the row has not as many cells/],
    ["a,b\n1,2,3\n", /^Objects\.csv, line 2: the row has not as many cells/],
    ['a,b\n1,"2\n', /^Objects\.csv, line \d: a cell begins with a double quote/],
    ['a,b\n1,2"\n', /^Objects\.csv, line 2: a double quote inside a cell/],
    ['a,b\n1,"2"x\n', /^Objects\.csv, line 2: a double quote inside a cell/]
  ])("tells what is wrong with %j", (text, expected) => {
    assert.match(mistake(text), expected)
  })
})
