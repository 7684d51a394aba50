import { describe, expect, it } from "@effect/vitest"
import type { ContentRules } from "../../../src/layers/fetching/ContentOptions.ts"
import { isHealthy } from "../../../src/layers/status/rows.ts"
import type { Problem } from "../../../src/services/Problem.ts"
import type { ContentState } from "../../../src/services/Slices.ts"
import { readState } from "../../support/readState.ts"

const start = Date.parse("2026-11-22T09:00:00.000Z")
const at = (minutes: number) => new Date(start + minutes * 60_000).toISOString()

const empty: ContentState = { kind: "content", sources: {} }

const fine: ContentState = {
  ...empty,
  versionId: "20261122T090000Z",
  generatedAt: at(0),
  lastSuccess: at(1),
  lastFetch: { timestamp: at(1), changed: false, versionId: "20261122T090000Z", records: 3, durationMs: 5 },
  sources: { exhibits: {} }
}

const failing: ContentState = {
  ...fine,
  lastFetch: { timestamp: at(20), error: { name: "SourceError", message: "no network" } },
  failingSince: at(10)
}

const health = (
  plugins: Readonly<Record<string, unknown>>,
  { minutes = 2, rules }: { minutes?: number; rules?: ContentRules } = {}
) => {
  const state = { system: { startTime: at(0), mode: "persistent" as const }, plugins }
  const { problems, word } = readState(state, start + minutes * 60_000, rules)
  return { word, isHealthy: isHealthy(word), problems }
}

describe("the health", () => {
  it("is OK if nothing is wrong, even without content", () => {
    expect(health({ content: fine })).toEqual({
      word: "OK",
      isHealthy: true,
      problems: []
    })
    expect(health({}).word).toBe("OK")
  })

  it("is NO CONTENT until there is a version, with the reason", () => {
    const texts = (state: Partial<ContentState>) =>
      health({ content: { ...empty, ...state } }).problems.map(({ text }) => text)
    expect(health({ content: empty })).toMatchObject({ word: "NO CONTENT", isHealthy: false })
    expect(texts({})).toEqual(['There is no version of "content": nothing was fetched yet'])
    expect(texts({ fetchingSince: at(0) })).toEqual([
      'There is no version of "content": the first fetch is running'
    ])
    expect(texts({ lastFetch: { timestamp: at(1), error: { name: "E", message: "no network" } } })).toEqual([
      'There is no version of "content": no network'
    ])
  })

  it("is NO CONTENT if one of several contents has no version", () => {
    expect(health({ content: fine, archive: empty }).word).toBe("NO CONTENT")
  })

  it("is WARNING when a fetch has failed, and FAILING when fetches have for as long as the rules allow", () => {
    expect(health({ content: failing }, { minutes: 24.9 })).toEqual({
      word: "WARNING",
      isHealthy: true,
      problems: [
        {
          code: "content:failing",
          severity: "warning",
          subject: "content",
          text: `Fetches of "content" have failed since ${at(10)}: no network`,
          since: at(10)
        }
      ]
    })
    expect(health({ content: failing }, { minutes: 25 })).toMatchObject({
      word: "FAILING",
      isHealthy: false
    })
    expect(health({ content: failing }, { minutes: 11, rules: { failingFor: "1 minute" } }).word).toBe(
      "FAILING"
    )
  })

  it("is FAILING if the content is older than the rules allow, whether or not fetches fail", () => {
    const rules = { failingFor: "15 minutes", maxAge: "1 hour" } as const
    expect(health({ content: fine }, { minutes: 61, rules }).word).toBe("OK")
    expect(health({ content: fine }, { minutes: 62, rules })).toEqual({
      word: "FAILING",
      isHealthy: false,
      problems: [
        {
          code: "content:old",
          severity: "error",
          subject: "content",
          text: `"content" is too old: it was last up to date at ${at(1)}`,
          since: at(1)
        }
      ]
    })
    const { lastFetch, lastSuccess, ...fromDisk } = fine
    expect(health({ content: fromDisk }, { minutes: 61, rules }).word).toBe("FAILING")
    expect(health({ content: fine }, { minutes: 1_000_000 }).word).toBe("OK")
  })

  it("is HELD if there are only warnings beside the hold", () => {
    const held = { since: at(3), by: "anna@desk", waiting: "20261122T091000Z" }
    const full: Problem = { code: "lamp:full", severity: "warning", text: "The lamp is full" }
    expect(health({ content: { ...fine, held }, lamp: { problems: [full] } })).toEqual({
      word: "HELD",
      isHealthy: true,
      problems: [
        {
          code: "content:held",
          severity: "warning",
          subject: "content",
          text: `New versions of "content" have been held back since ${at(3)} by anna@desk; version 20261122T091000Z waits. Resume to show them ("vitrine resume")`,
          since: at(3)
        },
        full
      ]
    })
    expect(health({ content: { ...failing, held } }, { minutes: 60 }).word).toBe("FAILING")
  })

  it("has the problems that plugins report in their slices, errors first", () => {
    const slow: Problem = { code: "lamp:slow", severity: "warning", text: "The lamp is slow." }
    const out: Problem = { code: "lamp:out", severity: "error", text: "The lamp is out.", since: at(1) }
    expect(health({ content: fine, lamp: { problems: [slow, out, { text: "odd" }, null] } })).toEqual({
      word: "FAILING",
      isHealthy: false,
      problems: [out, slow]
    })
    expect(health({ content: fine, lamp: { problems: [slow] } }).word).toBe("WARNING")
    expect(health({ content: fine, lamp: { problems: "many" }, odd: null, odder: 1 }).word).toBe("OK")
  })

  it("has a warning for a problem of a source, or of the hub", () => {
    const data = { problems: [{ code: "feed:old", severity: "warning", text: "The feed is old." }] }
    const changes = { problem: "it says Forbidden" }
    const lastSuccess = { timestamp: at(1), sourceId: "tours", records: 1, bytes: 1, durationMs: 1 }
    const content: ContentState = {
      ...fine,
      copiedFrom: { url: "http://hub/", askedAt: at(1), problem: "no network" },
      sources: {
        feed: { data },
        exhibits: { data: { calls: { today: 1, month: 2 }, changes } },
        tours: {
          lastSuccess: {
            ...lastSuccess,
            warnings: [{ code: "gone:records", subject: "tours/list", text: "an empty table" }]
          }
        }
      }
    }
    const { problems, word } = health({ content })
    expect(word).toBe("WARNING")
    expect(problems.map(({ code, text }) => [code, text])).toEqual([
      ["content:upstream", "http://hub/: failed: no network"],
      ["feed:old", "The feed is old."],
      [
        "source:changes",
        'Source "exhibits": it cannot report changes: it says Forbidden. All tables are read at each tick'
      ],
      ["gone:records", 'Source "tours": an empty table']
    ])
  })
})
