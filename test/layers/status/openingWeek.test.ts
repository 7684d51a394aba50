/**
 * A week of a hub. Its players and screens are switched on before it opens, and off after it has closed.
 */
import { expect, it } from "@effect/vitest"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { serverSlice, wellPlayer } from "../../support/fleet.ts"
import { pluginsOf } from "../../support/plugins.ts"

const ids = Array.from({ length: 3 }, (_, index) => `hall-${index + 1}`)
const daily = "10:00-18:00"

const identity = {
  node: { id: "hub" },
  hours: {
    zone: "Europe/Berlin",
    tue: daily,
    wed: daily,
    thu: daily,
    fri: "18:00-02:00",
    sat: daily,
    sun: daily
  },
  screens: [{ id: "left" }],
  players: ids.map((id) => ({ id }))
}

const services = ControllerStateMemory.layer("persistent", identity)

/** Monday, in the week in which summer time ends. */
const monday = Date.parse("2026-10-19T00:00:00+02:00")
const hour = 3_600_000

/** When they are on, in hours from Monday: from 15 minutes before the hours to 15 minutes after. */
const on = [
  [24 + 9.75, 24 + 18.25],
  [48 + 9.75, 48 + 18.25],
  [72 + 9.75, 72 + 18.25],
  [96 + 17.75, 120 + 2.25],
  [120 + 9.75, 120 + 18.25],
  // After the clock was set back by an hour.
  [144 + 10.75, 144 + 19.25]
] as const

const isOn = (now: number): boolean =>
  on.some(([from, to]) => from * hour <= now - monday && now - monday < to * hour)

const heardOf = (now: number) => {
  const heardAt = new Date(now).toISOString()
  return {
    screens: {
      kind: "content",
      versionId: "1",
      sources: {},
      screens: [
        {
          id: "left",
          versionId: "1",
          shownSince: heardAt,
          heardAt,
          renewMs: 60_000,
          until: new Date(now + 24 * hour).toISOString()
        }
      ]
    },
    players: serverSlice({
      players: ids.map((id) => wellPlayer(id, heardAt, { versionId: "1", activeSince: heardAt }))
    })
  }
}

it.effect("a week of opening hours has no problem, and then a player that stays off is one", () =>
  Effect.gen(function* () {
    const { state, updateSlice } = pluginsOf(yield* ControllerState)
    const report = (now: number, missing?: string) => {
      const { players, screens } = heardOf(now)
      return Effect.all([
        updateSlice("content", () => screens),
        updateSlice("content-server", () => ({
          ...players,
          players: players.players.filter(({ node }) => node.id !== missing)
        }))
      ])
    }
    const problems = Effect.map(state, ({ problems = [] }) =>
      problems.map(({ code, subject }) => `${code} ${subject}`)
    )
    for (let now = monday; now < monday + 7 * 24 * hour; now += 5 * 60_000) {
      if (isOn(now)) {
        yield* at(now, report(now))
      }
      expect(yield* at(now, problems)).toEqual([])
    }

    const tuesday = monday + (7 * 24 + 24 + 1 + 9.9) * hour
    yield* at(tuesday, report(tuesday, "hall-2"))
    expect(yield* at(tuesday, problems)).toEqual(["player:never-seen hall-2"])
  }).pipe(Effect.provide(services), (week) => at(monday, week))
)

/** With a fixed clock. Nothing waits here, and a `TestClock` would wait for suspended fibers at each of 2,000 times. */
const at = <A, E, R>(now: number, effect: Effect.Effect<A, E, R>) =>
  Effect.clockWith((clock) => {
    const stopped: Clock.Clock = Object.create(clock, {
      currentTimeMillis: { value: Effect.succeed(now) },
      unsafeCurrentTimeMillis: { value: () => now }
    })
    return Effect.withClock(effect, stopped)
  })
