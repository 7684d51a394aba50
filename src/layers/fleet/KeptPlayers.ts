/**
 * The players that report to a hub, at its present time of day, and their file, which outlives a restart.
 */
import { join, resolve } from "node:path"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Ref from "effect/Ref"
import * as JsonFile from "../../files/JsonFile.ts"
import { endWithin } from "../../internal/background.ts"
import { clockStep, type Now, unsafeNow } from "../../internal/monotonicMillis.ts"
import { repeatAfter } from "../../internal/Schedules.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { maxReportBytes, Player } from "../../services/PlayerReport.ts"
import {
  type IsExpected,
  maxPlayers,
  moved,
  playersOf,
  type Received,
  type Registry,
  restored,
  take
} from "./registry.ts"

export interface KeptPlayers {
  readonly isExpected: IsExpected
  /** The registry, with the moment of its last change or look. */
  readonly state: Ref.Ref<{ readonly registry: Registry; readonly last: Now }>
}

/** Restarts and duplicates are not kept: they are detected again after a restart of the hub. */
const KeptPlayer = Player.omit("duplicate", "restarts")

/** The largest file of players, in bytes. The largest reports of all players need less. */
const maxFileBytes = 2 * maxPlayers * maxReportBytes

/** The least time between two writes of the players. */
const saveEvery = "1 minute"

/** How long the shutdown waits for the last write. */
const lastSave = "1 second"

/** Starts with the players that were saved last, and saves players until the scope ends. */
export const make = Effect.fnUntraced(function* (downloadPath: string) {
  const file = yield* JsonFile.make(join(resolve(downloadPath), ".players.json"), KeptPlayer, {
    read: "players are listed once they report",
    written: "after a restart, players are listed once they report",
    maxBytes: maxFileBytes
  })
  const { system } = yield* (yield* ControllerState).state
  const expected = new Set((system.players ?? []).map(({ id }) => id))
  const isExpected = (id: string) => expected.has(id)
  const registry = restored(yield* file.read, isExpected, yield* Clock.currentTimeMillis)
  const state = yield* Ref.make({ registry, last: unsafeNow(yield* Effect.clock) })
  const players: KeptPlayers = { isExpected, state }
  const saved = yield* Ref.make(registry)
  // One save after the other: a delayed save must not overwrite the last one.
  const { withPermits } = yield* Effect.makeSemaphore(1)
  const save = Effect.gen(function* () {
    const { registry } = yield* Ref.get(state)
    if (registry !== (yield* Ref.get(saved)) && (yield* file.write(yield* list(players)))) {
      yield* Ref.set(saved, registry)
    }
  }).pipe(withPermits(1), Effect.disconnect)
  yield* Effect.addFinalizer(() => endWithin(lastSave)(save))
  yield* save.pipe(repeatAfter(saveEvery), Effect.delay(saveEvery), Effect.forkScoped)
  return players
})

/** The listed players. */
export const list = (players: KeptPlayers) =>
  modify(players, (registry, now) => [playersOf(registry, players.isExpected, now), registry])

/** Adds a report, or fails if it is refused. */
export const add = (players: KeptPlayers, received: Omit<Received, "now">) =>
  Effect.flatten(
    modify(players, (before, now) => {
      const outcome = take(before, { ...received, now }, players.isExpected)
      return [outcome, Either.getOrElse(outcome, () => before)]
    })
  )

/**
 * Changes the registry at the present time of day. If the clock was set, or this machine slept, no player counts as
 * silent for that time. The step that moves the players also reads the clocks: otherwise, another step could come in
 * between.
 */
const modify = <A>(
  { state }: KeptPlayers,
  change: (registry: Registry, now: number) => readonly [A, Registry]
) =>
  Effect.clockWith((clock) =>
    Ref.modify(state, ({ last, registry }) => {
      const now = unsafeNow(clock)
      const step = clockStep(last, now)
      const current = step === 0 ? registry : moved(registry, step)
      const [result, next] = change(current, now.wall)
      return [result, { registry: next, last: now }] as const
    })
  )
