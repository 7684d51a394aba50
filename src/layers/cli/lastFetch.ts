/**
 * What became of the last fetch of a controller that runs.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { GlobalState } from "../../services/ControllerState.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import { ContentState } from "../../services/Slices.ts"

/** Why it failed; absent if it succeeded, or if there was none yet. */
export const lastFetchFailure = (state: GlobalState): Option.Option<string> =>
  Option.flatMap(contentOf(state), ({ lastFetch }) =>
    lastFetch !== undefined && "error" in lastFetch ? Option.some(lastFetch.error.message) : Option.none()
  )

/** How long the first fetch is waited for: one that takes longer did not fail at once. */
const patience = "3 seconds"

/** Why the first fetch of a controller that has just started failed, where it failed at once. */
export const firstFetchFailure = Effect.gen(function* () {
  const { events, state } = yield* IpcClient
  const live = yield* events
  const content = contentOf(yield* state)
  if (Option.exists(content, ({ lastFetch }) => lastFetch === undefined)) {
    yield* Stream.runHead(Stream.filter(live, ({ name }) => ends.has(name)))
  }
  return lastFetchFailure(yield* state)
}).pipe(
  Effect.scoped,
  Effect.timeout(patience),
  Effect.orElseSucceed(() => Option.none<string>())
)

const ends: ReadonlySet<string> = new Set(["content:fetch:done", "content:fetch:error"])

const decode = Schema.decodeUnknownOption(ContentState)

const contentOf = ({ plugins }: GlobalState) => decode(plugins.content)
