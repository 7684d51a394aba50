/**
 * What became of the last fetch of a controller that runs.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { GlobalState } from "../../services/ControllerState.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import { contentsOf } from "../status/slices.ts"

/** Why it failed: of the content of this name, or of the first one that failed. Absent if none did. */
export const lastFetchFailure = (state: GlobalState, name?: string): Option.Option<string> =>
  Array.head(
    contentsOf(state).flatMap(([content, { lastFetch }]) =>
      (name ?? content) === content && lastFetch !== undefined && "error" in lastFetch
        ? [lastFetch.error.message]
        : []
    )
  )

/** How long the first fetch is waited for: one that takes longer did not fail at once. */
const patience = "3 seconds"

/** Why the first fetch of a controller that has just started failed, where it failed at once. */
export const firstFetchFailure = Effect.gen(function* () {
  const { events, state } = yield* IpcClient
  const live = yield* events
  if (contentsOf(yield* state).some(([, { lastFetch }]) => lastFetch === undefined)) {
    yield* Stream.runHead(Stream.filter(live, ({ name }) => /:fetch:(done|error)$/.test(name)))
  }
  return lastFetchFailure(yield* state)
}).pipe(
  Effect.scoped,
  Effect.timeout(patience),
  Effect.orElseSucceed(() => Option.none<string>())
)
