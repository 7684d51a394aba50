/**
 * The outcome of the last fetch of a running controller.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { IpcClient } from "../../services/IpcClient.ts"
import type { View } from "../../services/View.ts"

/** Why the last fetch failed: of the content with this name, or else of the first content that failed. */
export const lastFetchFailure = ({ contents }: View, name?: string): string | undefined =>
  contents
    .filter((content) => (name ?? content.name) === content.name)
    .flatMap(({ lastFetch }) => lastFetch?.failure ?? [])[0]

/** How long to wait for the first fetch: a longer fetch has not failed at once. */
const patience = "3 seconds"

/** Why the first fetch after the start failed, if it failed at once. */
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
