/**
 * What to do about a full disk.
 */
import * as Effect from "effect/Effect"
import { isDiskFull } from "../../internal/systemError.ts"
import type { FetchError } from "../../services/Content.ts"
import type { VersionStore } from "../../services/VersionStore.ts"

/** Where the disk is full, versions that nobody shows make room for one more try. */
export const withRoom =
  (store: VersionStore["Type"]) =>
  <A>(fetch: Effect.Effect<A, FetchError>): Effect.Effect<A, FetchError> =>
    Effect.catchIf(fetch, isDiskFull, (error) =>
      store.evict.pipe(
        Effect.orElseSucceed(() => []),
        Effect.tap((removed) =>
          removed.length === 0
            ? Effect.fail(error)
            : Effect.logWarning(
                `The disk is full: removed versions that nobody shows (${removed.join(", ")}), to try once more. ${error.message}`
              )
        ),
        Effect.zipRight(fetch)
      )
    )
