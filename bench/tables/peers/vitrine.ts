/**
 * One fetch of the built package into a version on disk.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { CommandBus, ControllerServices } from "vitrine"
import { runTask } from "#dist/layers/controller/Controller.js"
import { configuration, platform, tablesOf } from "./controller.ts"
import { serve } from "./serve.ts"

const fetchOnce = Effect.flatMap(CommandBus.CommandBus, ({ dispatch }) => dispatch({ type: "content.fetch" }))

const Outcome = Schema.Struct({ versionId: Schema.String, changed: Schema.Boolean })

const services = Layer.provideMerge(ControllerServices.layer("task"), platform)

serve(async (plan) => {
  const outcome = await Effect.runPromise(Effect.provide(runTask(configuration(plan), fetchOnce), services))
  const { changed, versionId } = Schema.decodeUnknownSync(Outcome)(outcome)
  return { directory: tablesOf(plan.directory, versionId), changed }
})
