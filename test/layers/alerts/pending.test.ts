import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { type Alerts, due, isOver, posted, posting, update } from "../../../src/layers/alerts/pending.ts"
import type { Problem } from "../../../src/services/Problem.ts"
import { foundProblems } from "../../support/foundProblems.ts"

const minute = 60_000

/** Problems of two codes, and for how many milliseconds they last. */
const problems: FastCheck.Arbitrary<ReadonlyArray<readonly [key: string, problem: Problem]>> =
  FastCheck.uniqueArray(
    FastCheck.record({
      code: FastCheck.constantFrom("player:silent", "screen:closed"),
      subject: FastCheck.constantFrom("a", "b", "c", "d"),
      severity: FastCheck.constantFrom("error" as const, "warning" as const),
      text: FastCheck.constant("…")
    }),
    { selector: ({ code, subject }) => code + subject }
  ).map((all) => all.map((problem) => [problem.code + problem.subject, problem] as const))

const rounds = FastCheck.array(
  FastCheck.record({ problems, lasts: FastCheck.constantFrom(5000, 20_000, 65_000, 200_000) }),
  { maxLength: 20 }
)

interface Told {
  readonly key: string
  readonly event: "begin" | "worse" | "end"
  readonly changedAt: number
  readonly post: number
}

describe("what a receiver gets, whatever begins and ends,", () => {
  it.prop(
    "is each begin and each end once, in order and within a minute, and grouped if three begin in a minute",
    { after: FastCheck.constantFrom(0, 30_000, 2 * minute), rounds },
    ({ after, rounds }) => {
      const told: Array<Told> = []
      let alerts: Alerts = new Map()
      let now = 0
      let posts = 0
      let before: ReadonlyMap<string, Problem> = new Map()
      const check = (standing: ReadonlyMap<string, Problem>) => {
        alerts = update(alerts, foundProblems(before, standing, now), now)
        before = standing
        for (let [post] = due(alerts, after, now); post !== undefined; [post] = due(alerts, after, now)) {
          expect(new Set(post.map(({ problem }) => problem.code)).size).toBe(1)
          expect(post.length === 1 || post.length >= 3).toBe(true)
          for (const alert of post) {
            const { changedAt, key, known } = alert
            const event = isOver(alert) ? "end" : known === undefined ? "begin" : "worse"
            told.push({ key, event, changedAt, post: posts })
            expect(now - changedAt).toBeLessThanOrEqual(minute + 5000 + (event === "begin" ? after : 0))
          }
          alerts = posted(posting(alerts, post), post, true)
          posts++
        }
      }
      for (const { lasts, problems } of [
        ...rounds,
        { problems: rounds.at(-1)?.problems ?? [], lasts: 200_000 }
      ]) {
        for (const end = now + lasts; now < end; now += 5000) {
          check(new Map(problems))
        }
      }
      const standing = new Set(rounds.at(-1)?.problems.map(([key]) => key))
      for (const key of new Set([...standing, ...told.map(({ key }) => key)])) {
        const events = told
          .filter((one) => one.key === key && one.event !== "worse")
          .map(({ event }) => event)
        expect(events).toEqual(events.map((_, index) => (index % 2 === 0 ? "begin" : "end")))
        expect(events.at(-1) === "begin").toBe(standing.has(key))
      }
      for (const { changedAt, event, key } of told.filter(({ event }) => event === "begin")) {
        const close = told.filter(
          (other) =>
            other.event === event &&
            other.key.slice(0, -1) === key.slice(0, -1) &&
            other.changedAt >= changedAt &&
            other.changedAt - changedAt <= minute
        )
        expect(close.length < 3 || new Set(close.map(({ post }) => post)).size < close.length).toBe(true)
      }
    },
    { fastCheck: { numRuns: 100 } }
  )
})

describe("of a muted problem, a receiver gets", () => {
  const problem: Problem = { code: "player:silent", severity: "error", subject: "a", text: "…" }
  const muted: Problem = { ...problem, muted: { name: "a", until: "2026-11-25T18:00:00.000Z", by: "anna" } }
  const standing = (problem?: Problem) => new Map(problem === undefined ? [] : [["a", problem] as const])

  /** The posted events, if these problems continue for ten minutes each. */
  const postedFor = (...problems: ReadonlyArray<Problem | undefined>) => {
    let alerts: Alerts = new Map()
    let before: ReadonlyMap<string, Problem> = new Map()
    return problems.map((problem, index) => {
      const told: Array<string> = []
      for (let now = index * 10 * minute; now < (index + 1) * 10 * minute; now += 5000) {
        alerts = update(alerts, foundProblems(before, standing(problem), now), now)
        before = standing(problem)
        for (const post of due(alerts, 2 * minute, now)) {
          told.push(...post.map((alert) => (isOver(alert) ? "end" : "begin")))
          alerts = posted(posting(alerts, post), post, true)
        }
      }
      return told.join(" ")
    })
  }

  it("neither its begin nor its end", () => {
    expect(postedFor(muted, undefined)).toEqual(["", ""])
    expect(postedFor(problem, muted, undefined)).toEqual(["begin", "", ""])
    expect(postedFor({ ...problem, severity: "warning" }, muted, undefined)).toEqual(["begin", "", ""])
  })

  it("its begin once, if it still lasts when the mute ends", () => {
    expect(postedFor(muted, problem, undefined)).toEqual(["", "begin", "end"])
    expect(postedFor(problem, muted, problem, undefined)).toEqual(["begin", "", "", "end"])
    expect(postedFor(problem, undefined, muted, undefined)).toEqual(["begin", "end", "", ""])
  })
})
