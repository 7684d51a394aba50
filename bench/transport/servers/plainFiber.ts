/**
 * What everyone writes by hand, in a program whose publisher is a fiber: what the fiber costs is no cost of a transport.
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
