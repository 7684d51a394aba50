import { describe, expect, it } from "@effect/vitest"
import { problemMetrics, prometheusText } from "../../../src/layers/dashboard/metrics.ts"
import type { Problem } from "../../../src/services/Problem.ts"

const closed: Problem = { code: "screen:closed", severity: "error", subject: "left", text: "It is closed." }
const odd: Problem = { code: "source:warning", severity: "warning", text: "A table is empty." }

const linesOf = (...problems: ReadonlyArray<Problem>) =>
  prometheusText(problemMetrics(problems))
    .split("\n")
    .filter((line) => line.startsWith("vitrine_"))

describe("problems as metrics", () => {
  it("have their severity as the value, and no text, which may change", () => {
    expect(linesOf(closed, odd)).toEqual([
      'vitrine_problem{code="screen:closed",subject="left"} 2',
      'vitrine_problem{code="source:warning",subject=""} 1'
    ])
    expect(linesOf()).toEqual([])
  })

  it("keep their series when they get worse, or nobody watches them any more", () => {
    expect(linesOf({ ...closed, severity: "warning" })).toEqual([
      'vitrine_problem{code="screen:closed",subject="left"} 1'
    ])
    expect(linesOf({ ...closed, unwatched: "closed" })).toEqual([
      'vitrine_problem{code="screen:closed",subject="left"} 0'
    ])
  })

  it("are one series if their labels are the same, and the worst of them counts", () => {
    expect(linesOf(odd, { ...odd, severity: "error", text: "Another table is empty." }, odd)).toEqual([
      'vitrine_problem{code="source:warning",subject=""} 2'
    ])
  })

  it("say that they are muted, so that rules can leave them out", () => {
    const muted = { name: "left", until: "2026-11-25T18:00:00.000Z", by: "anna" }
    expect(linesOf(closed, { ...closed, muted })).toEqual([
      'vitrine_problem{code="screen:closed",subject="left"} 2',
      'vitrine_problem{code="screen:closed",subject="left",muted="true"} 2'
    ])
  })

  it("have a cut and cleaned subject if another program has sent it", () => {
    const [line = ""] = linesOf({ ...closed, subject: `\u202e"\n${"x".repeat(5000)}` })
    expect(line.length).toBeLessThan(300)
    expect(line).toMatch(/^vitrine_problem\{code="screen:closed",subject="[^\n\u202e]*"\} 2$/)
  })
})
