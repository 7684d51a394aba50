import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { type Fault, manners, parseFault } from "../../../../src/layers/tableServer/faults/Fault.ts"

const everyTime = { count: Number.POSITIVE_INFINITY, every: 1 }

describe("parseFault", () => {
  it.each<readonly [string, Omit<Fault, "text">]>([
    ["Objects 503", { where: "Objects", what: 503, ...everyTime }],
    ["Objects 503 x2", { where: "Objects", what: 503, count: 2, every: 1 }],
    ["all 429 retry-after=30 every=3", { where: "all", what: 429, retryAfter: 30, ...everyTime, every: 3 }],
    ["attachments short x1 every=2", { where: "attachments", what: "short", count: 1, every: 2 }],
    ["  Räume & Wege \t reset ", { where: "Räume & Wege", what: "reset", ...everyTime }],
    ["503 503", { where: "503", what: 503, ...everyTime }],
    ["Room 500 404", { where: "Room 500", what: 404, ...everyTime }],
    ["Cafe\u0301 html", { where: "Café", what: "html", ...everyTime }]
  ])("reads %j", (text, fault) => {
    assert.deepStrictEqual(parseFault(text), Either.right({ text, ...fault }))
  })

  it.each(Object.keys(manners))("knows %s", (manner) => {
    assert.isTrue(Either.isRight(parseFault(`tables ${manner} x1`)))
  })

  it.each([
    "",
    "Objects",
    "503",
    "Objects 200",
    "Objects 600",
    "Objects 5030",
    "Objects sulk",
    "Objects toString",
    "Objects 503 x0",
    "Objects 503 every=0",
    "Objects 503 x2 x3",
    "Objects 503 every=2 x3",
    "Objects reset retry-after=3",
    "Objects 503 retry-after=soon"
  ])("refuses %j, and says what is right", (text) => {
    const error = Either.getOrThrow(Either.flip(parseFault(text)))
    assert.include(error.message, "WHERE WHAT")
    assert.include(error.message, JSON.stringify(text))
  })

  it.prop("never throws, and is quick", [FastCheck.string({ maxLength: 5000 })], ([text]) => {
    parseFault(text)
    parseFault(`${" x".repeat(500)}${text}`)
  })
})
