/**
 * Common handwritten code in a program whose publisher is a fiber, so that the cost of the fiber does not count for a transport.
 */
import * as Effect from "effect/Effect"
import { start } from "./plainServer.ts"
import { publishByFiber } from "./publishByFiber.ts"
import { serve } from "./serve.ts"

serve(async (options) => {
  const server = await start(options)
  return {
    ...server,
    publishAll: publishByFiber((name, payload) => Effect.sync(() => server.publish(name, payload)))
  }
})
