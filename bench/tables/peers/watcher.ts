/**
 * The controller of the built package, which fetches again and again.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ControllerServices, EventBus, type Plugin } from "vitrine"
import { runPersistent } from "#dist/layers/controller/Controller.js"
import { answer } from "../../processes.ts"
import type { WatcherApi } from "../protocol.ts"
import { configuration, platform } from "./controller.ts"

const promotions = Effect.runSync(Queue.unbounded<number>())
let longestFetch = 0

const Done = Schema.Struct({ durationMs: Schema.Number })

const listener: Plugin.Plugin = {
  name: "listener",
  issues: [],
  setup: () =>
    Effect.gen(function* () {
      const { subscribe } = yield* EventBus.EventBus
      const events = yield* subscribe
      yield* Effect.forkScoped(
        Stream.runForEach(events, ({ name, payload }) =>
          Effect.sync(() => {
            if (name === "content:version:promoted") {
              Queue.unsafeOffer(promotions, Date.now())
            }
            if (name === "content:fetch:done") {
              longestFetch = Math.max(longestFetch, Schema.decodeUnknownSync(Done)(payload).durationMs)
            }
          })
        )
      )
      return Effect.void
    })
}

answer<WatcherApi>({
  start: (plan) => {
    const { cwd, plugins } = configuration(plan)
    const services = Layer.provideMerge(ControllerServices.layer("persistent"), platform)
    Effect.runFork(Effect.provide(runPersistent({ cwd, plugins: [listener, ...plugins] }), services))
  },
  promoted: () => Effect.runPromise(Queue.take(promotions)),
  longestFetch: () => longestFetch
})
