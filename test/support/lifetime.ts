/**
 * A transport whose end the test brings about, and what may be left after it: nothing.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as HttpTransportLayer from "../../src/layers/httpTransport/HttpTransport.ts"
import type { HttpTransportConfig } from "../../src/layers/httpTransport/HttpTransportOptions.ts"
import * as transport from "./transport.ts"
import { eventLoopTurn, eventually } from "./waiting.ts"

/** A transport and its services. `end` ends the transport alone, and fails where that takes two seconds. */
export const start = (options: HttpTransportConfig = {}) =>
  Effect.gen(function* () {
    const services = yield* Layer.build(transport.memoryServices())
    const scope = yield* Effect.acquireRelease(Scope.make(), Scope.close)
    const context = yield* Layer.buildWithScope(
      Layer.provideMerge(HttpTransportLayer.layer({ port: 0, ...options }), Layer.succeedContext(services)),
      scope
    )
    const end = Scope.close(scope, Exit.void).pipe(Effect.disconnect, Effect.timeout("2 seconds"))
    return { context, services, end }
  })

/** How many sockets and servers this process has open, and how many fibers run that nothing supervises. */
const count = Effect.sync(() => ({
  sockets: process.getActiveResourcesInfo().filter((kind) => kind.startsWith("TCP")).length,
  fibers: Fiber.unsafeRoots().length
}))

/** Once the fibers run that the transport has of its own. */
const settled = Effect.zipRight(Effect.repeatN(eventLoopTurn, 50), count)

/**
 * Gives an Effect that waits until no more of them are there than now; so many sockets may be.
 *
 * It never ends in a race or under a timeout: the fibers of these are there, too.
 */
export const whatIsThere = Effect.map(settled, (before) => ({
  isAllAgain: (extraSockets = 0) =>
    eventually(
      Effect.map(
        count,
        ({ fibers, sockets }) => fibers <= before.fibers && sockets <= before.sockets + extraSockets
      )
    )
}))
