import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { keyOf, maxProblems, type Remembered, remember } from "../../../src/layers/status/standingProblems.ts"
import type { Problem } from "../../../src/services/Problem.ts"

const warning = (subject: string, rest: Partial<Problem> = {}): Problem => ({
  code: "lamp:broken",
  severity: "warning",
  subject,
  text: `The ${subject} lamp is broken.`,
  ...rest
})

const nothing: Remembered = new Map()

/** What stands after each round, which are a second apart. */
const roundsOf = (...rounds: ReadonlyArray<ReadonlyArray<Problem>>) => {
  let remembered = nothing
  return rounds.map((problems, index) => {
    const next = remember(remembered, problems, `at ${index}`)
    remembered = next.remembered
    return next.standing
  })
}

describe("problems that are remembered", () => {
  it("have the time at which they began, even if their text and severity change", () => {
    const worse = warning("left", { severity: "error", text: "It burns." })
    expect(roundsOf([warning("left")], [worse])[1]).toEqual([{ ...worse, since: "at 0", count: 1 }])
  })

  it("have the time that they state themselves", () => {
    expect(roundsOf([warning("left", { since: "long ago" })])[0]).toMatchObject([{ since: "long ago" }])
  })

  it("count how often they have begun, and begin with a new time", () => {
    const [, , third, , fifth] = roundsOf([warning("left")], [], [warning("left")], [], [warning("left")])
    expect(third).toMatchObject([{ since: "at 2", count: 2 }])
    expect(fifth).toMatchObject([{ since: "at 4", count: 3 }])
  })

  it("are the same if they have the same code, subject and player", () => {
    const ofHall = warning("left", { player: "hall-3", text: "Hall 3: The left lamp is broken." })
    const [standing] = roundsOf([
      warning("left"),
      warning("left", { text: "It is out." }),
      warning("right"),
      ofHall
    ])
    expect(standing?.map(({ text }) => text)).toEqual([
      "The left lamp is broken.",
      "The right lamp is broken.",
      "Hall 3: The left lamp is broken."
    ])
  })

  it("are at most 256, and at most the last 256 that have ended", () => {
    let remembered = nothing
    for (let round = 0; round < 4; round++) {
      const problems = Array.from({ length: 1000 }, (_, index) => warning(`${round} ${index}`))
      const next = remember(remembered, problems, "now")
      expect(next.standing).toHaveLength(maxProblems)
      remembered = next.remembered
      expect(remembered.size).toBeLessThanOrEqual(2 * maxProblems)
    }
    expect(remember(remembered, [warning("2 7")], "now").standing).toMatchObject([{ count: 2 }])
    expect(remember(remembered, [warning("0 7")], "now").standing).toMatchObject([{ count: 1 }])
  })

  it("count each begin after an end", () => {
    const subjects = FastCheck.uniqueArray(FastCheck.constantFrom("x", "y", "z"))
    FastCheck.assert(
      FastCheck.property(FastCheck.array(subjects, { maxLength: 12 }), (rounds) => {
        const begun = new Map<string, number>()
        const found = roundsOf(...rounds.map((round) => round.map((subject) => warning(subject))))
        rounds.forEach((round, index) => {
          for (const subject of round) {
            const key = keyOf(warning(subject))
            if (index === 0 || rounds[index - 1]?.includes(subject) !== true) {
              begun.set(key, (begun.get(key) ?? 0) + 1)
            }
          }
          expect(found[index]?.map(({ count }) => count)).toEqual(
            round.map((subject) => begun.get(keyOf(warning(subject))))
          )
        })
      })
    )
  })
})
