import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import {
  endOfJson,
  findStrayMarks,
  findTwice,
  jsonMistake
} from "../../../src/layers/documents/textMistakes.ts"

const parseJsonText = (text: string) =>
  Either.try({ try: (): unknown => JSON.parse(text), catch: (error) => jsonMistake(text, error) })

const mistake = (text: string) => Either.getOrUndefined(Either.flip(parseJsonText(text)))

describe("JSON that people edit", () => {
  it.prop(
    "is read to its end if JSON.parse accepts it, and no further than its first mistake otherwise",
    [
      FastCheck.jsonValue(),
      FastCheck.nat(),
      FastCheck.constantFrom("", "{", "]", ",", '"', "x", "\n", "0", "-")
    ],
    ([value, at, inserted]) => {
      const text = JSON.stringify(value, null, 1)
      const edited = `${text.slice(0, at % (text.length + 1))}${inserted}${text.slice((at % (text.length + 1)) + (at % 2))}`
      const isValid = Either.isRight(parseJsonText(edited))
      const end = endOfJson(edited)
      expect(end).toBeLessThanOrEqual(edited.length)
      if (isValid) {
        expect(end).toBe(edited.length)
      } else {
        // The text after the mistake makes no difference.
        expect(endOfJson(`${edited.slice(0, end)}\u0000`)).toBe(end)
      }
    },
    { fastCheck: { numRuns: 1000 } }
  )

  it.each([
    ["", 1, 1],
    ['[\n  {"a": 1},\n  {"b": 2,}\n]', 3, 11],
    ['{\n"a": "unclosed\n}', 2, 6],
    ['{"a": 01}', 1, 8],
    ["[1,\n2", 2, 2],
    ['{"a" 1}', 1, 6],
    ["{} {}", 1, 4]
  ])("has the line and the column of its first mistake reported: %j", (text, line, column) => {
    expect(mistake(text)).toMatchObject({ place: { line, column } })
  })

  it("is read to its end if it is 2 MB long and 50,000 levels deep", () => {
    const text = `[${"[".repeat(50_000)}"${"x".repeat(2_000_000)}"`
    expect(endOfJson(text)).toBe(text.length)
  })
})

describe("the signs of lost letters and of another encoding", () => {
  const foundIn = (text: string) => findStrayMarks(text).map(({ code }) => code)

  it.each([
    ["of Mac Roman", "Die M√ºhle von K√∂nig", "text:doubled"],
    ["of Mac Roman", "The king‚Äôs bell", "text:doubled"],
    ["of DOS", "Die M├╝hle, Gl├ñser", "text:doubled"],
    ["half of an emoji", '{"title":"A party \\ud83c"}', "text:lost"],
    ["question marks in words", "Schillerstra?e, M?hle, Gl?ckchen", "text:lost"],
    ["nothing but question marks", "1,?????? ?? ?????", "text:lost"]
  ])("are found: %s in %j", (_, text, code) => {
    expect(foundIn(text)).toEqual([code])
  })

  it.each([
    "√2 and √π and √(a)",
    "├── a tree",
    "‚Ärzte‘",
    '"A party \\ud83c\\udf89"',
    "Why?because. Really?no. https://a.example/watch?v=abc see?page=2 /a?b=c a?b.c",
    "What??? Really?? ??"
  ])("are in no other text: %j", (text) => {
    expect(foundIn(text)).toEqual([])
  })
})

describe("names that are twice in one object", () => {
  const namesIn = (text: string) => findTwice(text, JSON.parse(text))

  it.each([
    [
      '{"a": 1,\n "b": [{"a": 1, "a": 2}], "b": 0}',
      [
        ["a", 2, 17],
        ["b", 2, 27]
      ]
    ],
    ['{"a" : 1, "\\u0061" : 2}', [["a", 1, 11]]],
    ['{"__proto__":1,"__proto__":2}', [["__proto__", 1, 16]]]
  ])("are found: %j", (text, places) => {
    expect(namesIn(text).map(({ name, place }) => [name, place.line, place.column])).toEqual(places)
  })

  it.prop(
    "are in no text that a program writes",
    [FastCheck.jsonValue(), FastCheck.nat(2)],
    ([value, indent]) => {
      expect(namesIn(JSON.stringify([value, { ":": '":', '":': [":", '\\":'] }], null, indent))).toEqual([])
    }
  )
})
