/**
 * The services on NATS: of a server that all tests of a file share, and of separate prefixes.
 */
import { afterAll, beforeAll } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import * as nats from "../../src/nats.ts"
import { CommandBus } from "../../src/services/CommandBus.ts"
import { startNatsServer } from "./natsServer.ts"

/** All services of one instance. */
export const natsServices = (config: nats.NatsConfig) =>
  Layer.provide(nats.services(config), Logger.remove(Logger.defaultLogger))

/** A server for all tests of the file, and for each use a prefix that nothing has been stored under. */
export const sharedNatsServer = () => {
  const scope = Effect.runSync(Scope.make())
  let servers = ""
  let prefixes = 0
  beforeAll(async () => {
    servers = (await Effect.runPromise(Scope.extend(startNatsServer(), scope))).url
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  const nextConfig = Effect.sync((): nats.NatsConfig => ({ servers, prefix: `test${++prefixes}` }))
  const instance = Layer.unwrapEffect(Effect.map(nextConfig, natsServices))
  const pair = Effect.flatMap(nextConfig, (config) =>
    Effect.all([
      Layer.build(Layer.fresh(natsServices(config))),
      Layer.build(Layer.fresh(natsServices(config)))
    ])
  )
  /** A command bus whose connection ends with `lose`, as that of a killed process does, and another. */
  const losable = Effect.gen(function* () {
    const config = yield* nextConfig
    const scope = yield* Effect.acquireRelease(Scope.make(), Scope.close)
    const connection = yield* Layer.buildWithScope(Layer.fresh(nats.NatsConnection.layer(config)), scope)
    const lost = yield* Effect.provide(nats.CommandBusNats.make, connection)
    const other = Context.get(yield* Layer.build(Layer.fresh(natsServices(config))), CommandBus)
    return { lost, other, lose: Scope.close(scope, Exit.void) }
  })
  return {
    instance,
    losable,
    /** The same service of two instances. */
    pairOf: <I, S>(tag: Context.Tag<I, S>) =>
      Effect.map(
        pair,
        ([one, other]) => [Context.unsafeGet(one, tag), Context.unsafeGet(other, tag)] as const
      )
  }
}
