/**
 * The memory of this process, to tell whether it is bounded and comes back.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Effect from "effect/Effect"
import { eventLoopTurn } from "./waiting.ts"

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

/** The bytes in use, on the heap and in buffers. Whatever has just ended gets a few turns to let go of its own. */
export const memory = Effect.gen(function* () {
  yield* Effect.repeatN(Effect.zipRight(eventLoopTurn, Effect.sync(collectGarbage)), 1)
  return memoryNow()
})

/** The same in the middle of something. */
export const memoryNow = (): number => {
  collectGarbage()
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}
