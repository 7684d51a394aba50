import { describe, expect, it } from "@effect/vitest"
import type { ContentState } from "../../src/services/ContentEvents.ts"
import type { Row, Section } from "../../src/services/ControllerState.ts"
import {
  contentLabels,
  defaultRules,
  type HealthRules,
  healthOf,
  rulesOf
} from "../../src/services/Health.ts"

const start = Date.parse("2026-11-22T09:00:00.000Z")
const at = (minutes: number) => new Date(start + minutes * 60_000).toISOString()

const fine: ContentState = {
  versionId: "20261122T090000Z",
  generatedAt: at(0),
  lastSuccess: at(1),
  lastFetch: { timestamp: at(1), changed: false, versionId: "20261122T090000Z", records: 3, durationMs: 5 },
  sources: { exhibits: {} }
}

const failing: ContentState = {
  ...fine,
  lastFetch: { timestamp: at(20), error: { name: "SourceFailed", message: "no network" } },
  failingSince: at(10)
}

const section = (name: string, rows: ReadonlyArray<Row>): Section => ({ name, title: `The ${name}`, rows })

const health = (
  plugins: Readonly<Record<string, unknown>>,
  {
    minutes = 2,
    rules = defaultRules,
    sections = []
  }: { minutes?: number; rules?: HealthRules; sections?: ReadonlyArray<Section> } = {}
) =>
  healthOf({
    now: start + minutes * 60_000,
    rules,
    state: { system: { startTime: at(0), mode: "persistent" }, plugins, _version: 1 },
    status: { header: { startTime: at(0), uptimeMs: 0, mode: "persistent" }, sections }
  })

describe("the word", () => {
  it("is OK where nothing is wrong, and of a controller without content", () => {
    expect(health({ content: fine, "http-transport": { url: "http://127.0.0.1:8710" } })).toEqual({
      word: "OK",
      isHealthy: true,
      findings: []
    })
    expect(health({}).word).toBe("OK")
  })

  it("is NO CONTENT until there is a version, and says why there is none", () => {
    const texts = (state: Partial<ContentState>) =>
      health({ content: { sources: {}, ...state } }).findings.map(({ text }) => text)
    expect(health({ content: { sources: {} } })).toMatchObject({ word: "NO CONTENT", isHealthy: false })
    expect(texts({})).toEqual(['There is no version of "content": nothing was fetched yet'])
    expect(texts({ fetchingSince: at(0) })).toEqual([
      'There is no version of "content": the first fetch is running'
    ])
    expect(texts({ lastFetch: { timestamp: at(1), error: { name: "E", message: "no network" } } })).toEqual([
      'There is no version of "content": no network'
    ])
  })

  it("is NO CONTENT where one of several contents has no version", () => {
    expect(health({ content: fine, archive: { sources: {} } }).word).toBe("NO CONTENT")
  })

  it("is WARNING when a fetch has failed, and FAILING when fetches have for as long as the rules allow", () => {
    expect(health({ content: failing }, { minutes: 24.9 })).toEqual({
      word: "WARNING",
      isHealthy: true,
      findings: [{ tone: "warn", text: `Fetches of "content" have failed since ${at(10)}: no network` }]
    })
    expect(health({ content: failing }, { minutes: 25 })).toMatchObject({
      word: "FAILING",
      isHealthy: false
    })
    expect(health({ content: failing }, { minutes: 11, rules: { failingForMs: 60_000 } }).word).toBe(
      "FAILING"
    )
  })

  it("is FAILING where the content is older than the rules allow, whether or not fetches fail", () => {
    const rules = { ...defaultRules, maxAgeMs: 60 * 60_000 }
    expect(health({ content: fine }, { minutes: 61, rules }).word).toBe("OK")
    expect(health({ content: fine }, { minutes: 62, rules })).toEqual({
      word: "FAILING",
      isHealthy: false,
      findings: [{ tone: "error", text: `"content" is too old: it was last up to date at ${at(1)}` }]
    })
    const { lastFetch, lastSuccess, ...fromDisk } = fine
    expect(health({ content: fromDisk }, { minutes: 61, rules }).word).toBe("FAILING")
    expect(health({ content: fine }, { minutes: 1_000_000 }).word).toBe("OK")
  })

  it("is HELD where that is the only thing, beside warnings", () => {
    const held = { since: at(3), by: "anna@desk", waiting: "20261122T091000Z" }
    const sections = [section("http-transport", [{ type: "text", text: "is full", tone: "warn" }])]
    expect(health({ content: { ...fine, held } }, { sections })).toEqual({
      word: "HELD",
      isHealthy: true,
      findings: [
        {
          tone: "warn",
          text: `"content" is held since ${at(3)} by anna@desk; version 20261122T091000Z waits`
        },
        { tone: "warn", text: "The http-transport: is full" }
      ]
    })
    expect(health({ content: { ...failing, held } }, { minutes: 60 }).word).toBe("FAILING")
  })

  it("is what rows of the status warn of, however deep, errors first", () => {
    const rows: ReadonlyArray<Row> = [
      { type: "kv", label: "Streams", value: "1 of 32", tone: "ok" },
      {
        type: "list",
        label: "Parts",
        items: [
          { type: "kv", label: "one", value: "slow", tone: "warn" },
          { type: "text", text: "nothing" }
        ]
      },
      { type: "kv", label: "Event bus", value: "no events", tone: "error" }
    ]
    expect(health({ content: fine }, { sections: [section("own", rows)] })).toEqual({
      word: "FAILING",
      isHealthy: false,
      findings: [
        { tone: "error", text: "The own, Event bus: no events" },
        { tone: "warn", text: "The own, Parts, one: slow" }
      ]
    })
    expect(health({ content: fine }, { sections: [section("own", rows.slice(0, 2))] }).word).toBe("WARNING")
  })

  it("does not say twice what the slice of a content says, and never fails for a row of it", () => {
    const rows: ReadonlyArray<Row> = [
      ...Object.values(contentLabels).map((label): Row => ({ type: "kv", label, value: "…", tone: "error" })),
      {
        type: "list",
        label: contentLabels.rejected,
        items: [{ type: "text", text: "not as expected", tone: "error" }]
      },
      { type: "kv", label: "http://hub", value: "cannot be reached", tone: "error" }
    ]
    expect(health({ content: fine }, { sections: [section("content", rows)] })).toEqual({
      word: "WARNING",
      isHealthy: true,
      findings: [{ tone: "warn", text: "The content, http://hub: cannot be reached" }]
    })
  })
})

describe("the rules", () => {
  it("are those of the dashboard, if there is one", () => {
    const state = (plugins: Readonly<Record<string, unknown>>) => ({
      system: { startTime: at(0), mode: "persistent" as const },
      plugins,
      _version: 1
    })
    const rules = { failingForMs: 1000, maxAgeMs: 2000 }
    expect(rulesOf(state({ dashboard: { url: "http://127.0.0.1:8720", rules } }))).toEqual(rules)
    expect(rulesOf(state({}))).toEqual(defaultRules)
    expect(rulesOf(state({ dashboard: { rules: { failingForMs: "soon" } } }))).toEqual(defaultRules)
  })
})
