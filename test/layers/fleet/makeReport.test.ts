import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { printableLine } from "../../../src/internal/printable.ts"
import { type Machine, makeReport } from "../../../src/layers/fleet/makeReport.ts"
import { maxLine, maxProblems, maxReportBytes, PlayerReport } from "../../../src/services/PlayerReport.ts"
import { Problem } from "../../../src/services/Problem.ts"
import { ContentState } from "../../../src/services/Slices.ts"
import type { GlobalState } from "../../../src/services/StatusSnapshot.ts"
import type { View } from "../../../src/services/View.ts"
import { viewOf } from "../../support/readState.ts"

const now = Date.parse("2026-11-22T09:00:00.000Z")
const startTime = "2026-11-22T08:00:00.000Z"

const machine: Machine = {
  content: "content",
  vitrine: "1.0.0",
  host: "Player-1.museum.example",
  runId: "4f3c",
  freeDisk: 1_000_000,
  warnings: []
}

const reportedView = (
  content: object,
  { problems = [], ...system }: Partial<GlobalState["system"] & Pick<GlobalState, "problems">> = {}
): View => ({
  ...viewOf(
    {
      system: { startTime, mode: "persistent", node: { id: "player-1" }, ...system },
      plugins: { content: { kind: "content", sources: {}, ...content } }
    },
    now
  ),
  problems
})

const screen = (id: string, versionId: string) => ({
  id,
  versionId,
  shownSince: startTime,
  heardAt: new Date(now).toISOString(),
  until: new Date(now + 60_000).toISOString()
})

const sizeOf = (report: PlayerReport): number => Buffer.byteLength(JSON.stringify(report))

describe("a report", () => {
  it("says how many problems it has no room for", () => {
    const problems = Array.from(
      { length: 40 },
      (_, index): Problem => ({
        code: "lamp",
        severity: "warning",
        subject: `${index}`,
        text: "The lamp is out."
      })
    )
    const long = problems.map((problem) => ({
      ...problem,
      code: "c".repeat(60),
      subject: "s".repeat(290),
      text: "t".repeat(299)
    }))
    const made = makeReport(reportedView({}, { problems }), machine)
    expect([made.problems.length, made.moreProblems]).toEqual([maxProblems, 40 - maxProblems])
    const large = makeReport(reportedView({}, { problems: long }), machine)
    expect(large.moreProblems).toBe(40 - large.problems.length)
    expect(large.problems.length).toBeLessThan(maxProblems)
    expect(
      makeReport(reportedView({}, { problems: problems.slice(0, maxProblems) }), machine).moreProblems
    ).toBeUndefined()
  })

  it("has the machine, its version and the state of its screens", () => {
    const versionId = "20261122T080000Z"
    const state = reportedView(
      { versionId, activeSince: startTime, screens: [screen("left", versionId), screen("right", "older")] },
      { node: { id: "player-1", label: "Hall 1", role: "player" }, screens: [{ id: "left", label: "Left" }] }
    )
    expect(makeReport(state, { ...machine, warnings: ["one", "two"] })).toEqual({
      vitrine: "1.0.0",
      sentAt: "2026-11-22T09:00:00.000Z",
      node: { id: "player-1", label: "Hall 1", role: "player" },
      host: "Player-1.museum.example",
      runId: "4f3c",
      startTime,
      versionId,
      activeSince: startTime,
      freeDisk: 1_000_000,
      problems: [],
      screens: [
        { id: "right", word: "behind", since: startTime, versionId: "older" },
        { id: "left", label: "Left", word: "showing", since: startTime, versionId }
      ],
      warnings: ["one", "two"]
    })
  })

  it("does not mention the silence of the hub", () => {
    const silence = (subject: string): Problem => ({
      code: "hub:silent",
      severity: "warning",
      subject,
      text: "?"
    })
    const state = reportedView(
      { reports: { to: "http://hub:8730/" } },
      { problems: [silence("http://hub:8730/"), silence("http://other:8730/")] }
    )
    expect(makeReport(state, machine).problems).toEqual([silence("http://other:8730/")])
  })

  it("does not mention that there is no version until a first fetch has failed", () => {
    const none = (subject: string): Problem => ({
      code: "content:none",
      severity: "error",
      subject,
      text: "?"
    })
    const given = { problems: [none("content"), none("archive")] }
    const reported = (content: object) => makeReport(reportedView(content, given), machine).problems
    expect(reported({})).toEqual([none("archive")])
    expect(reported({ lastFetch: { timestamp: startTime, error: { name: "E", message: "no" } } })).toEqual(
      given.problems
    )
  })

  it("has the screens that can be seen, by names that the hub can use, if there are some", () => {
    const watched = (ids: ReadonlyArray<string>) =>
      makeReport(reportedView({}), { ...machine, watched: ids }).watched
    expect(watched([])).toBeUndefined()
    expect(watched(["other/left", "", "x".repeat(65), "a\nb"])).toBeUndefined()
    expect(watched(["left", "other/left", "right"])).toEqual(["left", "right"])
    expect(watched(Array.from({ length: 100 }, (_, index) => `${index}`))).toHaveLength(64)
  })

  it("has the name of the host if the machine has none", () => {
    const { header, ...view } = reportedView({})
    const { node, ...unnamed } = header
    expect(makeReport({ ...view, header: unnamed }, machine).node).toEqual({ id: "player-1" })
  })

  it("is accepted by the hub, whatever a plugin reports", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(Arbitrary.make(Problem)), (problems) => {
        const report = makeReport(reportedView({}, { problems }), machine)
        expect(Schema.decodeUnknownEither(PlayerReport)(JSON.parse(JSON.stringify(report)))).toMatchObject({
          _tag: "Right"
        })
      })
    )
    const lamp: Problem = { code: "lamp", severity: "error", text: "It is broken" }
    const since = "2026-11-22T09:00:00+01:00"
    const report = makeReport(
      reportedView(
        {},
        {
          problems: [
            { ...lamp, since },
            { ...lamp, since: "yesterday" },
            { ...lamp, code: "" }
          ]
        }
      ),
      machine
    )
    expect(report.problems).toEqual([{ ...lamp, since: startTime }, lamp])
  })

  const warnings = Array.from({ length: 10 }, (_, index) => `${index} ${"w".repeat(290)}`)
  const problems = (length: number) =>
    Array.from(
      { length },
      (_, index): Problem => ({ code: "lamp:broken", severity: "error", text: `${index}` })
    )

  it("leaves out the oldest warnings first if it is too large", () => {
    const large = problems(maxProblems).map((problem) => ({
      ...problem,
      subject: "s".repeat(60),
      text: problem.text.padEnd(300, ".")
    }))
    const report = makeReport(reportedView({}, { problems: large }), { ...machine, warnings })
    expect(report.problems).toHaveLength(maxProblems)
    expect(report.warnings.length).toBeGreaterThan(0)
    expect(report.warnings).toEqual(warnings.slice(-report.warnings.length))
    expect(sizeOf(report)).toBeGreaterThan(maxReportBytes - 400)
  })

  it("then leaves out the last screens, and then the last problems", () => {
    const screens = Array.from({ length: 250 }, (_, index) => screen(`screen-${index}`, "older"))
    const report = makeReport(reportedView({ screens }, { problems: problems(100) }), {
      ...machine,
      warnings
    })
    expect(report.problems).toHaveLength(maxProblems)
    expect(report.screens.length).toBeGreaterThan(50)
    expect(report.screens.length).toBeLessThan(250)
    expect(report.warnings).toEqual([])
    const long = problems(200).map((problem) => ({
      ...problem,
      subject: "s".repeat(250),
      text: problem.text.padEnd(300, ".")
    }))
    const less = makeReport(reportedView({ screens }, { problems: long }), { ...machine, warnings })
    expect(less.problems).toEqual(long.slice(0, less.problems.length))
    expect(less.problems.length).toBeGreaterThan(20)
    expect(less.screens).toEqual([])
  })

  it("is small enough and accepted by the hub, for any state", () => {
    const text = FastCheck.oneof(
      FastCheck.fullUnicodeString({ maxLength: 20 }),
      FastCheck.string16bits({ maxLength: 20 }),
      FastCheck.constantFrom('"'.repeat(30_000), "\u0000\u202e".repeat(9000), "💡".repeat(9000))
    )
    const line = text.map(
      (text) => printableLine(text, maxLine).slice(0, maxLine).replaceAll("/", "").trim() || "a"
    )
    const problem = FastCheck.tuple(Arbitrary.make(Problem), text).map(([problem, text]) => ({
      ...problem,
      text,
      count: 2
    }))
    const content = FastCheck.tuple(
      Arbitrary.make(ContentState),
      FastCheck.array(FastCheck.tuple(text, text), { maxLength: 400, size: "max" })
    ).map(([content, screens]) => ({
      ...Struct.omit(content, "copiedFrom", "reports", "versions"),
      activeSince: startTime,
      versionId: "20261122T090000Z",
      screens: screens.map(([id, versionId]) => screen(id, versionId))
    }))
    const machines = FastCheck.record({
      content: FastCheck.constant("content"),
      vitrine: line,
      host: text,
      runId: line,
      freeDisk: FastCheck.nat(),
      watched: FastCheck.array(text, { maxLength: 100, size: "max" }),
      warnings: FastCheck.array(text, { maxLength: 400, size: "max" })
    })
    const problems = FastCheck.array(problem, { maxLength: 400, size: "max" })
    const node = FastCheck.record({ id: line, label: line, role: line })
    FastCheck.assert(
      FastCheck.property(content, machines, node, problems, (content, machine, node, problems) => {
        const report = makeReport(reportedView(content, { node, problems }), machine)
        expect(sizeOf(report)).toBeLessThanOrEqual(maxReportBytes)
        const copy: unknown = JSON.parse(JSON.stringify(report))
        expect(Schema.decodeUnknownEither(PlayerReport)(copy, { onExcessProperty: "error" })).toMatchObject({
          _tag: "Right"
        })
      }),
      { numRuns: 25 }
    )
  })
})
