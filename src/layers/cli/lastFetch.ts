/**
 * What became of the last fetch of a controller that runs.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { IpcClient } from "../../services/IpcClient.ts"
import type { View } from "../../services/View.ts"

/** Why it failed: of the content of this name, or of the first one that failed. */
export const lastFetchFailure = ({ contents }: View, name?: string): string | undefined =>
  contents
    .filter((content) => (name ?? content.name) === content.name)
    .flatMap(({ lastFetch }) => lastFetch?.failure ?? [])[0]

/** How long the first fetch is waited for: one that takes longer did not fail at once. */
const patience = "3 seconds"

/** Why the first fetch of a controller that has just started failed, where it failed at once. */
export const firstFetchFailure = Effect.gen(function* () {
  const { events, view } = yield* IpcClient
  const live = yield* events
  if ((yield* view).contents.some(({ lastFetch }) => lastFetch === undefined)) {
    yield* Stream.runHead(Stream.filter(live, ({ name }) => /:fetch:(done|error)$/.test(name)))
  }
  return lastFetchFailure(yield* view)
}).pipe(
  Effect.scoped,
  Effect.timeout(patience),
  Effect.orElseSucceed(() => undefined)
)
