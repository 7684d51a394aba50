import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as fc from "effect/FastCheck"
import * as HashMap from "effect/HashMap"
import {
  maxPlayers,
  maxReports,
  playersOf,
  type Registry,
  restored,
  take
} from "../../../src/layers/fleet/registry.ts"
import type { Player } from "../../../src/services/PlayerReport.ts"
import { report } from "../../support/fleet.ts"

const start = Date.parse("2026-11-23T10:00:00.000Z")
const at = (seconds: number) => start + seconds * 1000
const timeAt = (seconds: number) => new Date(at(seconds)).toISOString()

interface Said {
  readonly seconds: number
  readonly id?: string
  readonly runId?: string
  readonly address?: string
  readonly sentAt?: string
  readonly stoppedBy?: string
  readonly number?: number
  readonly versionId?: string
}

const nobody = () => false

const hear = (
  registry: Registry,
  { address = "10.0.0.3", id = "hall-3", runId = "a", seconds, sentAt = timeAt(seconds), ...stop }: Said,
  isExpected: (id: string) => boolean = nobody
) =>
  take(
    registry,
    {
      report: report({ node: { id }, runId, sentAt, host: `host-${address}`, ...stop }),
      address,
      now: at(seconds)
    },
    isExpected
  )

const heard = (...said: ReadonlyArray<Said>): Registry =>
  said.reduce<Registry>(
    (registry, said) => Either.getOrElse(hear(registry, said), () => registry),
    HashMap.empty()
  )

const shown = (registry: Registry, seconds: number): ReadonlyArray<Player> =>
  playersOf(registry, nobody, at(seconds))

const full = (seconds: number) =>
  heard(
    ...Array.from({ length: maxPlayers }, (_, index) => ({
      seconds: seconds + index / 1000,
      id: `p${index}`
    }))
  )

const refusal = (outcome: ReturnType<typeof take>) =>
  Either.match(outcome, { onLeft: ({ _tag }) => _tag, onRight: () => undefined })

describe("a player", () => {
  it("has its last report, with its time, its address and the offset of its clock", () => {
    const [player] = shown(
      heard({ seconds: 0 }, { seconds: 10, sentAt: "2031-01-01T00:00:00.000Z", address: "10.0.0.4" }),
      12
    )
    expect(player).toMatchObject({
      node: { id: "hall-3" },
      heardAt: timeAt(10),
      address: "10.0.0.4",
      clockOffset: Date.parse("2031-01-01T00:00:00.000Z") - at(10)
    })
    expect(player).not.toMatchObject({ duplicate: expect.anything() })
  })

  it("is listed as in its newest report, even if an older one arrives late", () => {
    const registry = heard(
      { seconds: 0 },
      { seconds: 10, stoppedBy: "anna@desk" },
      { seconds: 12, sentAt: timeAt(5), address: "10.0.0.4" }
    )
    expect(shown(registry, 12)).toEqual([
      expect.objectContaining({ sentAt: timeAt(10), stoppedBy: "anna@desk", heardAt: timeAt(12) })
    ])
  })

  it("is present even if its clock was set back", () => {
    const registry = heard({ seconds: 0 }, { seconds: 10, sentAt: timeAt(-3600), address: "10.0.0.4" })
    expect(shown(registry, 12)).toEqual([
      expect.objectContaining({ sentAt: timeAt(-3600), heardAt: timeAt(10) })
    ])
  })

  it("has its new state at once after its clock was set back by 40 seconds", () => {
    const registry = heard(
      { seconds: 0, number: 7, versionId: "old" },
      { seconds: 10, number: 8, versionId: "new", sentAt: timeAt(-30) },
      { seconds: 11, number: 6, versionId: "overtaken", sentAt: timeAt(11) }
    )
    expect(shown(registry, 12)).toEqual([
      expect.objectContaining({ versionId: "new", sentAt: timeAt(-30), heardAt: timeAt(11) })
    ])
  })

  it("is the same one after a restart", () => {
    const [player, ...others] = shown(
      heard(
        { seconds: 0 },
        { seconds: 5, runId: "b" },
        { seconds: 15, runId: "b" },
        { seconds: 20, runId: "c" }
      ),
      21
    )
    expect(player).toMatchObject({ runId: "c" })
    expect(player).not.toMatchObject({ duplicate: expect.anything() })
    expect(others).toEqual([])
  })

  it("is the same one after many restarts", () => {
    const runs = Array.from({ length: 100 }, (_, index) => ({ seconds: 3 * index, runId: `run${index}` }))
    expect(shown(heard(...runs), 298)).toEqual([expect.objectContaining({ runId: "run99" })])
    expect(shown(heard(...runs), 298)[0]).not.toMatchObject({ duplicate: expect.anything() })
  })

  it("counts its restarts in the last ten minutes", () => {
    const runs = ["a", "b", "c", "d"].map((runId, index) => ({ seconds: index * 15, runId }))
    const [player] = shown(heard(...runs, { seconds: 50, runId: "d" }), 60)
    expect(player).toMatchObject({ runId: "d", restarts: 3 })
    expect(shown(heard(...runs), 616)[0]).toMatchObject({ restarts: 2 })
    expect(shown(heard(...runs), 660)[0]).not.toMatchObject({ restarts: expect.anything() })
  })

  it("does not count a start after a requested stop", () => {
    const runs = ["a", "b", "c", "d"].flatMap((runId, index) => [
      { seconds: index * 15, runId },
      { seconds: index * 15 + 5, runId, stoppedBy: "anna@desk" }
    ])
    expect(shown(heard(...runs), 51)[0]).toMatchObject({ runId: "d", stoppedBy: "anna@desk" })
    const started = shown(heard(...runs, { seconds: 60, runId: "e" }), 61)[0]
    expect(started).toMatchObject({ runId: "e" })
    expect(started).not.toMatchObject({ restarts: expect.anything() })
    expect(started).not.toMatchObject({ stoppedBy: expect.anything() })
  })

  it("that runs counts as stopped because of another machine only until it reports again", () => {
    const forged = { seconds: 5, runId: "b", address: "10.0.0.9", stoppedBy: "nobody" }
    const [player] = shown(heard({ seconds: 0 }, forged, { seconds: 10 }), 11)
    expect(player).toMatchObject({ runId: "a", duplicate: { address: "10.0.0.9" } })
    expect(player).not.toMatchObject({ stoppedBy: expect.anything() })
  })

  it("is the first of two machines with the same id, and names the other one", () => {
    const two = heard(
      { seconds: 0 },
      { seconds: 5, runId: "b", address: "10.0.0.9" },
      { seconds: 10 },
      { seconds: 15, runId: "b", address: "10.0.0.9" }
    )
    expect(shown(two, 16)).toEqual([
      expect.objectContaining({
        runId: "a",
        address: "10.0.0.3",
        duplicate: { host: "host-10.0.0.9", address: "10.0.0.9", heardAt: timeAt(15) }
      })
    ])
    const [known] = shown(two, 74)
    expect(known).toHaveProperty("duplicate")
    const [alone] = shown(two, 76)
    expect(alone).not.toMatchObject({ duplicate: expect.anything() })
  })

  it("becomes the other machine before the first one, which has ended, counts as silent", () => {
    const both = [{ seconds: 0 }, { seconds: 5, runId: "b" }, { seconds: 10 }]
    const later = [15, 24.9, 34.9].map((seconds) => ({ seconds, runId: "b" }))
    expect(shown(heard(...both, ...later.slice(0, -1)), 25)[0]).toMatchObject({ runId: "a" })
    const [player] = shown(heard(...both, ...later), 35)
    expect(player).toMatchObject({ runId: "b" })
    expect(player).not.toMatchObject({ duplicate: expect.anything() })
    const [again] = shown(heard(...both, ...later, { seconds: 40 }), 41)
    expect(again).toHaveProperty("duplicate")
  })

  it("is not replaced by a machine that sends many reports with its id, each from another run", () => {
    let registry: Registry = heard({ seconds: 0 })
    for (let second = 1; second <= 120; second++) {
      for (let count = 0; count < 50; count++) {
        const lie = { seconds: second, runId: `lie ${second} ${count}`, address: "10.0.0.66" }
        registry = Either.getOrElse(hear(registry, lie), () => registry)
      }
      if (second % 10 === 0) {
        const outcome = hear(registry, { seconds: second })
        expect(refusal(outcome)).toBeUndefined()
        registry = Either.getOrThrow(outcome)
        expect(shown(registry, second)).toEqual([
          expect.objectContaining({
            runId: "a",
            heardAt: timeAt(second),
            duplicate: expect.objectContaining({ address: "10.0.0.66" })
          })
        ])
      }
    }
  })

  it("is refused for ten seconds if it sends too much", () => {
    const flood = Array.from({ length: maxReports }, () => ({ seconds: 1 }))
    const registry = heard(...flood)
    expect(refusal(hear(registry, { seconds: 2 }))).toBe("vitrine/TooManyRequests")
    expect(refusal(hear(registry, { seconds: 2, id: "other" }))).toBeUndefined()
    expect(refusal(hear(registry, { seconds: 11 }))).toBeUndefined()
    // After the clock of the hub was set back.
    expect(refusal(hear(registry, { seconds: -3600 }))).toBeUndefined()
  })
})

describe("players", () => {
  it("are forgotten after a day without a report if they are not expected", () => {
    const registry = heard({ seconds: 0 }, { seconds: 0, id: "known" })
    const listed = (seconds: number) =>
      playersOf(registry, (id) => id === "known", at(seconds)).map(({ node }) => node.id)
    expect(listed(86_399).toSorted()).toEqual(["hall-3", "known"])
    expect(listed(86_401)).toEqual(["known"])
  })

  it("are at most 1,024; a silent one makes room for another", () => {
    const registry = full(0)
    expect(refusal(hear(registry, { seconds: 30, id: "new" }))).toBe("vitrine/NoRoom")
    const later = Either.getOrThrow(hear(registry, { seconds: 90, id: "new" }))
    const ids = shown(later, 90).map(({ node }) => node.id)
    expect(ids).toHaveLength(maxPlayers)
    expect(ids).toContain("new")
    expect(ids).not.toContain("p0")
  })

  it("always have a place if they are expected", () => {
    const isExpected = (id: string) => id === "known" || id === "p0"
    const registry = Either.getOrThrow(hear(full(0), { seconds: 5, id: "known" }, isExpected))
    const ids = shown(registry, 5).map(({ node }) => node.id)
    expect(ids).toHaveLength(maxPlayers)
    expect(ids).toEqual(expect.arrayContaining(["known", "p0"]))
    expect(ids).not.toContain("p1")
  })

  it("leave no place if all are expected", () => {
    expect(refusal(hear(full(0), { seconds: 5, id: "new" }, () => true))).toBe("vitrine/NoRoom")
  })

  it("are restored from the file, none of them in the future", () => {
    const registry = heard({ seconds: 0 }, { seconds: 1, id: "b" }, { seconds: 5000, id: "c" })
    const again = restored(shown(registry, 2), nobody, at(2))
    const players = shown(again, 2)
    expect(players).toHaveLength(3)
    expect(players.find(({ node }) => node.id === "c")?.heardAt).toBe(timeAt(2))
    expect(shown(Either.getOrThrow(hear(again, { seconds: 3, runId: "z" })), 3)[0]).not.toHaveProperty(
      "duplicate"
    )
  })

  it("never exceed the limit", () => {
    const said = fc.record({
      seconds: fc.integer({ min: -100, max: 200 }),
      id: fc.integer({ min: 0, max: 3 }).map((index) => `p${index}`),
      runId: fc.constantFrom("a", "b", "c"),
      address: fc.constantFrom("10.0.0.1", "10.0.0.2")
    })
    fc.assert(
      fc.property(fc.array(said, { maxLength: 60 }), (all) => {
        const registry = heard(...all)
        expect(new Set(shown(registry, 200).map(({ node }) => node.id))).toEqual(
          new Set(all.map(({ id }) => id))
        )
        for (const entry of HashMap.values(registry)) {
          expect(entry.others.length).toBeLessThanOrEqual(8)
        }
      })
    )
  })
})
