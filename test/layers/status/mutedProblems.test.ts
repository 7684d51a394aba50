import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { isNamed, muteSections, mutesOf, withMutes } from "../../../src/layers/status/problems.ts"
import { problemText, toneOf } from "../../../src/layers/status/rows.ts"
import { healthOf } from "../../../src/layers/status/view.ts"
import type { Mute, Problem } from "../../../src/services/Problem.ts"

const start = Date.parse("2026-11-25T10:00:00.000Z")
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()

const stateOf = (...mutes: ReadonlyArray<Mute>) => ({ plugins: { mutes: { kind: "mutes", mutes } } })
const mute = (name: string, seconds = 60): Mute => ({ name, until: at(seconds), by: "anna@desk" })

const silent: Problem = { code: "player:silent", severity: "error", subject: "hall-3", text: "It is silent" }
const closed: Problem = {
  code: "screen:closed",
  severity: "error",
  subject: "left",
  player: "hall-3",
  text: "It is closed"
}
const own: Problem = { code: "screen:closed", severity: "error", subject: "left", text: "It is closed" }
const late: Problem = { code: "lamp", severity: "warning", text: "The lamp is late" }

describe("a problem is muted", () => {
  it.each([
    ["player:silent", [silent]],
    ["hall-3", [silent, closed]],
    ["left", [closed, own]],
    ["screen:closed", [closed, own]],
    ["screen:closed left", [own]],
    ["hall-3 screen:closed left", [closed]],
    ["lamp", [late]],
    ["hall", []],
    ["screen", []],
    ["", []],
    ["hall-3 screen:closed", []]
  ])("by %j: its code, its subject, its player or all of these", (name, named) => {
    expect([silent, closed, own, late].filter((problem) => isNamed(problem, name))).toEqual(named)
  })

  it("by the name of its player, but not of one with the same beginning", () => {
    expect(isNamed({ ...closed, player: "west/hall-3" }, "west")).toBe(true)
    expect(isNamed({ ...closed, player: "west-2/hall-3" }, "west")).toBe(false)
    expect(isNamed(own, "undefined")).toBe(false)
  })

  it("until its time, and then as before", () => {
    const state = stateOf(mute("hall-3"))
    const marked = (seconds: number) => withMutes(state, start + seconds * 1000)([silent, late])
    expect(marked(59)).toEqual([late, { ...silent, muted: mute("hall-3") }])
    expect(marked(60)).toEqual([silent, late])
    expect(mutesOf(state, start + 60_000)).toEqual([])
  })

  it("by the mute that ends last", () => {
    const state = stateOf(mute("hall-3", 10), mute("player:silent", 30), mute("player:silent hall-3", 20))
    expect(withMutes(state, start)([silent])).toEqual([{ ...silent, muted: mute("player:silent", 30) }])
  })

  it("by the controller only: a slice or a report cannot mute it", () => {
    const forged = { ...silent, muted: { name: "hall-3", until: "9999-12-31T00:00:00.000Z", by: "a page" } }
    expect(withMutes(stateOf(), start)([forged])).toEqual([silent])
  })
})

describe("a problem that nobody watches any more", () => {
  it("is listed after the others, with the reason, and does not count", () => {
    const left: Problem = { ...own, unwatched: "closed" }
    const problems = withMutes(stateOf(), start)([left, late])
    expect(problems).toEqual([late, left])
    expect(toneOf(left)).toBe("neutral")
    expect(problemText(left)).toBe("It is closed (no longer watched: closed)")
    expect(healthOf(problems)).toBe("WARNING")
    expect(healthOf([left])).toBe("OK")
  })
})

describe("a muted problem", () => {
  it("is listed and does not count", () => {
    const problems = withMutes(stateOf(mute("hall-3")), start)([silent, late])
    expect(healthOf(problems)).toBe("WARNING")
    expect(problems.map(toneOf)).toEqual(["warn", "neutral"])
    const none: Problem = { code: "content:none", severity: "error", text: "There is no version" }
    expect(healthOf(withMutes(stateOf(mute("content:none")), start)([none]))).toBe("OK")
  })

  it("is in the status, with who muted it and why", () => {
    const [section] = muteSections(stateOf({ ...mute("hall-3"), why: "painting" }), start)
    expect(section?.rows).toEqual([
      { type: "kv", label: "hall-3", value: `until ${at(60)} by anna@desk: painting`, tone: "neutral" }
    ])
    expect(muteSections(stateOf(), start)).toEqual([])
  })

  it.prop(
    "is never lost, and only problems that a mute names are muted",
    {
      problems: FastCheck.array(FastCheck.constantFrom(silent, closed, own, late)),
      mutes: FastCheck.array(
        FastCheck.record({
          name: FastCheck.constantFrom(
            "hall-3",
            "left",
            "lamp",
            "screen:closed left",
            "hall-3 screen:closed left"
          ),
          seconds: FastCheck.integer({ min: -60, max: 60 })
        }),
        { maxLength: 5 }
      )
    },
    ({ mutes, problems }) => {
      const all = mutes.map(({ name, seconds }) => mute(name, seconds))
      const marked = withMutes(stateOf(...all), start)(problems)
      expect(marked).toHaveLength(problems.length)
      for (const { muted, ...problem } of marked) {
        const named = mutes.some(({ name, seconds }) => seconds > 0 && isNamed(problem, name))
        expect(muted !== undefined).toBe(named)
      }
      const tones = marked.map(toneOf)
      expect(tones).toEqual(
        ["error", "warn", "neutral"].flatMap((tone) => tones.filter((one) => one === tone))
      )
    }
  )
})
