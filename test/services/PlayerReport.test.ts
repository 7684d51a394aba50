import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as fc from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { issueText, placedIssues } from "../../src/internal/Options.ts"
import {
  maxLine,
  maxProblems,
  maxScreens,
  maxWarnings,
  PlayerReport
} from "../../src/services/PlayerReport.ts"
import { report } from "../support/fleet.ts"

const decode = (input: unknown) =>
  Either.mapLeft(Schema.decodeUnknownEither(PlayerReport)(input), (error) => issueText(placedIssues(error)))

const unprintable = /[\p{Cc}\p{Surrogate}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u

const textsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string"
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(textsIn)
      : []

const refusalOf = (changes: object): string | undefined =>
  Either.match(decode({ ...report(), ...changes }), {
    onLeft: (message) => message,
    onRight: () => undefined
  })

describe("a report", () => {
  it("stays unchanged if nothing is wrong", () => {
    expect(decode(report())).toEqual(Either.right(report()))
  })

  it("is shortened if it is long", () => {
    const long = "x".repeat(5000)
    const cleaned = Either.getOrThrow(
      decode({
        ...report(),
        host: long,
        stoppedBy: `${long}\u001b[2J`,
        problems: Array.from({ length: 100 }, (_, index) => ({
          code: long,
          severity: "error",
          text: `${index} ${long}`
        })),
        screens: Array.from({ length: 1000 }, (_, index) => ({ id: `${index}${long}`, word: long })),
        warnings: Array.from({ length: 1000 }, (_, index) => `${index} ${long}`)
      })
    )
    expect(cleaned.host).toBe(`${"x".repeat(maxLine)}…`)
    expect(cleaned.stoppedBy).toBe(`${"x".repeat(maxLine)}…`)
    expect(cleaned.problems).toHaveLength(maxProblems)
    expect(cleaned.problems[0]?.text).toMatch(/^0 x{298}…$/)
    expect(cleaned.screens).toHaveLength(maxScreens)
    expect(cleaned.warnings).toHaveLength(maxWarnings)
    expect(cleaned.warnings.at(-1)).toMatch(/^999 /)
  })

  it("is made printable, and markup stays text", () => {
    const cleaned = Either.getOrThrow(
      decode({
        ...report(),
        host: "a\u001b[2Jb",
        warnings: ["\u202egnp.exe\n\u0000", "<script>alert(1)</script>"]
      })
    )
    expect(cleaned.host).toBe("a [2Jb")
    expect(cleaned.warnings).toEqual(["�gnp.exe", "<script>alert(1)</script>"])
  })

  it("has the state problem for screens with an unknown word, which would be a label of metrics", () => {
    const wordsOf = (words: ReadonlyArray<string>) =>
      Either.map(
        decode({ ...report(), screens: words.map((word) => ({ id: "left", word })) }),
        ({ screens }) => screens.map(({ word }) => word)
      )
    const known = ["showing", "behind", "problem", "hidden", "silent", "closed", "never seen"]
    expect(wordsOf(known)).toEqual(Either.right(known))
    const unknown = ["asleep", "", "Showing", "constructor", "x".repeat(5000)]
    expect(wordsOf(unknown)).toEqual(Either.right(unknown.map(() => "problem")))
  })

  it("loses unknown fields", () => {
    const input: unknown = JSON.parse(
      JSON.stringify({ ...report(), extra: 1, node: { id: "hall-3", extra: 1 } }).replace(
        /^\{/,
        '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{}},'
      )
    )
    const cleaned = Either.getOrThrow(decode(input))
    expect(cleaned).toEqual({ ...report(), node: { id: "hall-3" } })
    expect(Object.getPrototypeOf(cleaned)).toBe(Object.prototype)
    expect(Reflect.get(cleaned, "isAdmin")).toBeUndefined()
  })

  it("cannot mute a problem", () => {
    const [problem] = report().problems
    const muted = { name: "hall-3", until: "2026-11-25T18:00:00.000Z", by: "a page" }
    expect(decode({ ...report(), problems: [{ ...problem, muted }] })).toEqual(Either.right(report()))
  })

  it.each([
    ["sentAt", { sentAt: "yesterday" }],
    ["startTime", { startTime: "2026-13-45T00:00:00Z" }],
    ["node.id", { node: { id: "" } }],
    ["node.id", { node: { id: "../etc" + "\u0000" } }],
    ["node.id", { node: { id: "x".repeat(65) } }],
    ["node.id", { node: { id: "hall/a" } }],
    ["node.label", { node: { id: "a", label: " " } }],
    ["runId", { runId: 7 }],
    ["copiedPercent", { copiedPercent: 101 }],
    ["copiedPercent", { copiedPercent: Number.NaN }],
    ["freeDisk", { freeDisk: JSON.parse("1e999") }],
    ["freeDisk", { freeDisk: -1 }],
    [
      "problems[1].severity",
      { problems: [...report().problems, { code: "a", severity: "fatal", text: "b" }] }
    ],
    ["problems[0].since", { problems: [{ code: "a", severity: "error", text: "b", since: 5 }] }],
    ["screens", { screens: { length: 1e9 } }],
    ["screens[0].word", { screens: [{ id: "a" }] }],
    ["warnings[0]", { warnings: [null] }]
  ])("is refused if %s is invalid, which is named", (field, changes) => {
    expect(refusalOf(changes)?.startsWith(`${field}: `)).toBe(true)
  })

  it("is limited, printable and unchanged when it is decoded again", () => {
    const anything = fc.oneof(
      fc.json(),
      fc.jsonValue().map((value) => JSON.stringify(value))
    )
    const texts = fc.string({ unit: "binary", minLength: 1, maxLength: 400 })
    const since = fc.oneof(
      { arbitrary: fc.constant("2026-11-23T10:00:00Z"), weight: 40 },
      { arbitrary: texts, weight: 1 }
    )
    const like = fc
      .record(
        {
          vitrine: texts,
          node: fc.record({ id: fc.constant("hall-3"), label: texts }, { requiredKeys: ["id"] }),
          host: texts,
          copiedPercent: fc.double({ min: -5, max: 100, noNaN: true }),
          freeDisk: fc.double({ min: -5 }),
          screens: fc.array(fc.record({ id: texts, word: texts, since }, { requiredKeys: ["id", "word"] }), {
            maxLength: 80
          }),
          warnings: fc.array(texts, { maxLength: 20 }),
          problems: fc.array(
            fc.record({
              code: texts,
              severity: fc.constantFrom("error", "warning"),
              text: texts,
              subject: texts
            }),
            { maxLength: 40 }
          )
        },
        { requiredKeys: [] }
      )
      .map((changes) => JSON.stringify({ ...report(), ...changes }))
    let taken = 0
    fc.assert(
      fc.property(fc.oneof(anything, like), (json) => {
        const cleaned = decode(JSON.parse(json))
        if (Either.isLeft(cleaned)) {
          expect(cleaned.left).not.toMatch(unprintable)
          expect(cleaned.left.length).toBeLessThan(2000)
          return
        }
        taken += 1
        for (const text of textsIn(cleaned.right)) {
          expect(text).not.toMatch(unprintable)
          expect(Array.from(text).length).toBeLessThanOrEqual(301)
        }
        expect(Object.keys(report())).toEqual(expect.arrayContaining(Object.keys(cleaned.right)))
        expect(decode(JSON.parse(JSON.stringify(cleaned.right)))).toEqual(cleaned)
      }),
      { numRuns: 300 }
    )
    expect(taken).toBeGreaterThan(20)
  })

  it("is refused if it is nested too deep", () => {
    expect(Either.isLeft(decode(JSON.parse("[".repeat(8000) + "]".repeat(8000))))).toBe(true)
    const deep: unknown = JSON.parse(`${'{"node":'.repeat(3000)}1${"}".repeat(3000)}`)
    expect(refusalOf({ node: deep })).toMatch(/^node/)
  })
})
