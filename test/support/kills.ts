/**
 * Promoters that are killed at random instants, each while the next is made ready.
 *
 * `KILL_RUNS` says how many, `KILL_SEED` repeats the instants of a run; `npm run kill` kills 200.
 */
import { expect } from "@effect/vitest"
import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import type { Promoter } from "./promoter.ts"

const { KILL_RUNS, KILL_SEED, npm_lifecycle_event } = process.env

export const isLong = KILL_RUNS !== undefined || npm_lifecycle_event === "kill"
export const runs = Number(KILL_RUNS ?? (isLong ? 200 : 6))
export const seed = KILL_SEED ?? String(Date.now())

/** Logged after a kill between the rename of the first version and that of its manifest. */
const firstManifestMissing =
  /^logged .*manifest\.json is missing\. The newest version on disk is active again.*$/m

/** A kill between the making of a webhook and the note of its id leaves one behind, and a base has room for ten. */
const noRoomForWebhooks = /^logged Changes cannot be listed.*WEBHOOKS_IN_BASE.*$/gm

/** Nothing failed, and nothing was logged, in what a promoter said. */
export const expectNoFailure = (output: string, hadManifest: boolean) => {
  const said = output.replace(noRoomForWebhooks, "")
  expect(hadManifest ? said : said.replace(firstManifestMissing, "")).not.toMatch(/failed|error|logged/)
}

export interface Kills {
  /** Lets the next one go, kills it soon after it has said one of the milestones, and returns all that it has said. */
  readonly killOne: Effect.Effect<string>
  /** The one that would be killed next. */
  readonly next: Effect.Effect<Promoter>
}

export const makeKills = Effect.fnUntraced(function* (
  start: Effect.Effect<Promoter, never, Scope.Scope>,
  milestones: NonEmptyReadonlyArray<string>,
  /** How long it goes on behind a milestone, in milliseconds, unless there are many runs. */
  longest: number
) {
  const prepare = Scope.extend(start, yield* Effect.scope)
  let next = yield* prepare
  const kills: Kills = {
    killOne: Effect.gen(function* () {
      const promoter = next
      next = yield* prepare
      yield* promoter.ready
      yield* promoter.go
      yield* promoter.said(yield* Random.choice(milestones))
      yield* Effect.sleep(yield* Random.nextRange(0, isLong ? 300 : longest))
      yield* promoter.kill
      return yield* promoter.output
    }),
    next: Effect.sync(() => next)
  }
  return kills
})
