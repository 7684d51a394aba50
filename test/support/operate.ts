/**
 * A project as a technician has it: commands that run to their end.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import type { makeProjectForOthers } from "./project.ts"

export const operate = Effect.fnUntraced(function* (made: typeof makeProjectForOthers) {
  const { folder, run, ...rest } = yield* made
  /** Runs a command to its end. */
  const vitrine = (...args: ReadonlyArray<string>) => Effect.flatMap(run(args), ({ ended }) => ended)
  return {
    ...rest,
    folder,
    run,
    vitrine
  }
}, Effect.provide(NodeContext.layer))
