import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import {
  compare,
  keyOf,
  maxProblems,
  nothingRemembered,
  recall,
  remember,
  type StandingProblems
} from "../../../src/layers/status/problems.ts"
import type { Problem } from "../../../src/services/Problem.ts"

const warning = (subject: string, rest: Partial<Problem> = {}): Problem => ({
  code: "lamp:broken",
  severity: "warning",
  subject,
  text: `The ${subject} lamp is broken.`,
  ...rest
})

const ownedBy = (plugin: string, problems: ReadonlyArray<Problem>) =>
  problems.map((problem) => ({ plugin, problem }))

/** The problems that continue after each round; rounds are a second apart. */
const roundsOf = (...rounds: ReadonlyArray<ReadonlyArray<Problem>>) => {
  let remembered = nothingRemembered
  return rounds.map((problems, index) => {
    const next = remember(remembered, ownedBy("lamps", problems), `at ${index}`)
    remembered = next.remembered
    return next.problems
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

  it("keep the time from before a restart, although their plugin knows only a later one", () => {
    const [first, later] = ["2026-11-22T09:00:00.000Z", "2026-11-22T12:00:00.000Z"]
    const found = ownedBy("lamps", [warning("left", { since: later })])
    const known = ownedBy("lamps", [warning("left", { since: first })])
    const one = remember(recall(nothingRemembered, known, later), found, later)
    expect(one.problems).toMatchObject([{ since: first }])
    const two = remember(one.remembered, found, later)
    expect(two.problems).toMatchObject([{ since: first }])
    const over = remember(two.remembered, [], later)
    expect(remember(over.remembered, found, later).problems).toMatchObject([{ since: later, count: 2 }])
  })

  it("count how often they have begun, and begin with a new time", () => {
    const [, , third, , fifth] = roundsOf([warning("left")], [], [warning("left")], [], [warning("left")])
    expect(third).toMatchObject([{ since: "at 2", count: 2 }])
    expect(fifth).toMatchObject([{ since: "at 4", count: 3 }])
  })

  it("stay with the reason while nobody looks for them, and are there again with their first time", () => {
    const rounds: Array<ReturnType<typeof remember>> = []
    for (const [index, found] of [[warning("left")], [], [warning("left")]].entries()) {
      const before = rounds.at(-1)?.remembered ?? nothingRemembered
      rounds.push(
        remember(before, ownedBy("lamps", found), `at ${index}`, ({ plugin }) => `${plugin} closed`)
      )
    }
    const [first, away, back] = rounds
    expect(first?.problems).toEqual([{ ...warning("left"), since: "at 0", count: 1 }])
    expect(away?.problems).toEqual([
      { ...warning("left"), since: "at 0", count: 1, unwatched: "lamps closed" }
    ])
    expect(back?.problems).toEqual(first?.problems)
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
    let remembered = nothingRemembered
    for (let round = 0; round < 4; round++) {
      const problems = Array.from({ length: 1000 }, (_, index) => warning(`${round} ${index}`))
      const next = remember(remembered, ownedBy("lamps", problems), "now")
      expect(next.problems).toHaveLength(maxProblems)
      remembered = next.remembered
      expect(remembered.standing.size).toBe(maxProblems)
      expect(remembered.over.size).toBeLessThanOrEqual(maxProblems)
    }
    expect(remember(remembered, ownedBy("lamps", [warning("2 7")]), "now").problems).toMatchObject([
      { count: 2 }
    ])
    expect(remember(remembered, ownedBy("lamps", [warning("0 7")]), "now").problems).toMatchObject([
      { count: 1 }
    ])
  })

  it("are not over if others fill the list, and keep their time", () => {
    const many = Array.from({ length: 20 }, (_, index) => warning(`${index}`))
    const errors = Array.from({ length: maxProblems }, (_, index) =>
      warning(`e${index}`, { severity: "error" })
    )
    const [, full, after] = roundsOf(many, [...errors, ...many], many)
    expect(full).toHaveLength(maxProblems)
    expect(after).toEqual(many.map((problem) => ({ ...problem, since: "at 0", count: 1 })))
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

const problemOf = (code: string, subject?: string): Problem => ({
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
    const first = compare(none, [problemOf("lamp", "left")], "at 1")
    expect(first.changes).toMatchObject([{ _tag: "Begin", problem: { subject: "left" } }])
    const second = compare(first.standing, [{ ...problemOf("lamp", "left"), text: "still" }], "at 2")
    expect(second.changes).toEqual([])
    const third = compare(second.standing, [], "at 3")
    expect(third.changes).toMatchObject([{ _tag: "Over", problem: { text: "still" }, endedAt: "at 3" }])
  })

  it("change when they become errors, and when they become warnings again", () => {
    const first = compare(none, [problemOf("lamp")], "at 1")
    const error = { ...problemOf("lamp"), severity: "error" as const }
    const second = compare(first.standing, [error], "at 2")
    expect(second.changes).toMatchObject([{ _tag: "Change", isWorse: true, problem: { severity: "error" } }])
    expect(compare(second.standing, [problemOf("lamp")], "at 3").changes).toMatchObject([
      { _tag: "Change", isWorse: false, problem: { severity: "warning" } }
    ])
  })

  it("are no longer watched, are there again or are over", () => {
    const closed = { ...problemOf("lamp"), unwatched: "closed" }
    const evening = compare(compare(none, [problemOf("lamp")], "at 1").standing, [closed], "at 2")
    expect(evening.changes).toMatchObject([
      { _tag: "Unwatched", problem: { unwatched: "closed" }, endedAt: "at 2" }
    ])
    expect(compare(evening.standing, [closed], "at 3").changes).toEqual([])
    expect(compare(evening.standing, [problemOf("lamp")], "at 4").changes).toMatchObject([
      { _tag: "Begin", isAgain: true }
    ])
    expect(compare(evening.standing, [], "at 4").changes).toMatchObject([{ _tag: "Over" }])
  })

  it("are not over while a full list may leave them out", () => {
    const errors = Array.from({ length: maxProblems }, (_, index) =>
      warning(`e${index}`, { severity: "error" })
    )
    const begun = compare(new Map(), [warning("left"), warning("right")], "at 0")
    const full = compare(begun.standing, errors, "at 1")
    expect(full.changes.filter(({ _tag }) => _tag === "Over")).toEqual([])
    const after = compare(full.standing, [warning("right")], "at 2")
    expect(after.changes).toHaveLength(maxProblems + 1)
    expect(after.changes).toContainEqual({
      _tag: "Over",
      problem: warning("left"),
      endedAt: "at 2"
    })
  })

  it("begin and end in turn, and result in the current problems", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(problems, { maxLength: 8 }), (rounds) => {
        let standing = none
        const open = new Set<string>()
        rounds.forEach((round, index) => {
          const found = compare(standing, round, String(index))
          standing = found.standing
          for (const { _tag, problem } of found.changes) {
            const key = keyOf(problem)
            if (_tag === "Over") {
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
