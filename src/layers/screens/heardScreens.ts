/**
 * The screens of a content, as in the slice of the state: consumers with a fresh lease. Expected screens stay after the
 * end of their lease, as long as the controller runs.
 */

import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { defined } from "../../internal/schemas.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { Screen } from "../../services/Slices.ts"
import { type Consumer, maxConsumers, VersionStore } from "../../services/VersionStore.ts"

/** Gives the screens as of now. Run before expired leases are removed. */
export const makeScreens = Effect.gen(function* () {
  const { consumers } = yield* VersionStore
  const { system } = yield* Effect.flatMap(ControllerState, ({ state }) => state)
  const expected = new Set((system.screens ?? []).map(({ id }) => id))
  const known = yield* Ref.make<ReadonlyArray<Screen>>([])
  return Effect.flatMap(consumers, (consumers) =>
    Ref.updateAndGet(known, (before) => {
      const fresh = consumers.map(screenOf)
      const ids = new Set(fresh.map(({ id }) => id))
      const ended = before.filter(({ id }) => expected.has(id) && !ids.has(id))
      const [others, wanted] = Array.partition([...fresh, ...ended], ({ id }) => expected.has(id))
      return [...wanted, ...others].slice(0, maxConsumers)
    })
  )
})

const screenOf = ({ closedAt, consumerId, hiddenSince, problemSince, runs, ...said }: Consumer): Screen => ({
  ...said,
  id: consumerId,
  shownSince: iso(said.shownSince),
  heardAt: iso(said.heardAt),
  until: iso(said.until),
  ...defined({
    problemSince: isoIfAny(problemSince),
    hiddenSince: isoIfAny(hiddenSince),
    closedAt: isoIfAny(closedAt),
    runs: runs?.map((run) => ({ ...run, since: iso(run.since), heardAt: iso(run.heardAt) }))
  })
})

const iso = (millis: number): string => new Date(millis).toISOString()

const isoIfAny = (millis: number | undefined) => (millis === undefined ? undefined : iso(millis))
