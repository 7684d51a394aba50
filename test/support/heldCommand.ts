/**
 * A command that takes until it is released.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as transport from "./transport.ts"

/** Registers it. `ended` tells of each run whether it was interrupted. */
export const holdCommand = (type: string) =>
  Effect.gen(function* () {
    const started = yield* Deferred.make<void>()
    const result = yield* Deferred.make<unknown>()
    const ended = yield* Deferred.make<"done" | "interrupted">()
    yield* transport.register(
      type,
      Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(result)).pipe(
        Effect.tap(Deferred.succeed(ended, "done")),
        Effect.onInterrupt(() => Deferred.succeed(ended, "interrupted"))
      )
    )
    return {
      started: Deferred.await(started),
      release: (value: unknown) => Deferred.succeed(result, value),
      ended: Deferred.await(ended)
    }
  })
