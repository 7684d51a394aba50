import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { compare, type StandingProblems } from "../../../src/layers/alerts/problemChanges.ts"
import { keyOf, maxProblems } from "../../../src/layers/status/standingProblems.ts"
import type { Problem } from "../../../src/services/Problem.ts"

const warning = (code: string, subject?: string): Problem => ({
  code,
  severity: "warning",
  text: `${code} is wrong`,
  ...(subject === undefined ? {} : { subject })
})

const none: StandingProblems = new Map()

const problems = FastCheck.array(
  FastCheck.record({
    code: FastCheck.constantFrom("a", "b"),
    subject: FastCheck.constantFrom("x", "y", "z"),
    severity: FastCheck.constantFrom("error" as const, "warning" as const),
    text: FastCheck.string()
  }),
  { maxLength: 6 }
)

describe("problems that are compared", () => {
  it("begin and end once, even if their text changes", () => {
    const first = compare(none, [warning("lamp", "left")], "at 1")
    expect(first.changes).toMatchObject([{ _tag: "Begin", problem: { subject: "left" } }])
    const second = compare(first.standing, [{ ...warning("lamp", "left"), text: "still" }], "at 2")
    expect(second.changes).toEqual([])
    const third = compare(second.standing, [], "at 3")
    expect(third.changes).toMatchObject([{ _tag: "End", problem: { text: "still" }, endedAt: "at 3" }])
  })

  it("begin again when they become errors, and not when they become warnings", () => {
    const first = compare(none, [warning("lamp")], "at 1")
    const error = { ...warning("lamp"), severity: "error" as const }
    const second = compare(first.standing, [error], "at 2")
    expect(second.changes).toMatchObject([{ _tag: "Begin", problem: { severity: "error" } }])
    expect(compare(second.standing, [warning("lamp")], "at 3").changes).toEqual([])
  })

  it("are at most 256", () => {
    const many = Array.from({ length: 1000 }, (_, index) => warning("lamp", String(index)))
    expect(compare(none, many, "now").standing.size).toBe(maxProblems)
  })

  it("begin and end in turn, and result in the current problems", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(problems, { maxLength: 8 }), (rounds) => {
        let standing = none
        const open = new Set<string>()
        rounds.forEach((round, index) => {
          const found = compare(standing, round, String(index))
          standing = found.standing
          for (const { _tag, key } of found.changes) {
            if (_tag === "End") {
              expect(open.delete(key)).toBe(true)
            } else {
              open.add(key)
            }
          }
          expect([...open].sort()).toEqual([...new Set(round.map(keyOf))].sort())
          expect([...standing.keys()].sort()).toEqual([...open].sort())
        })
      })
    )
  })
})
