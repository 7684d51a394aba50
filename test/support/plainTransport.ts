/**
 * The HTTP transport of `vitrine/plain` on a free port of a plain controller.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ResultAsync } from "neverthrow"
import {
  type HttpTransportConfig,
  type HttpTransportInstance,
  httpTransport,
  type PlainContext
} from "../../src/plain.ts"
import type { PlainController } from "./plainController.ts"
import * as rawHttp from "./rawHttp.ts"

export const fromResult = <A, E>(result: ResultAsync<A, E>): Effect.Effect<A, E> =>
  Effect.promise(async () => await result).pipe(
    Effect.flatMap((result) => result.match<Effect.Effect<A, E>>(Effect.succeed, Effect.fail))
  )

export interface PlainTransport extends HttpTransportInstance {
  readonly port: number
}

/** Sets it up; it is disconnected with the scope at the latest. */
export const setUp = (
  controller: PlainController,
  options?: HttpTransportConfig
): Effect.Effect<PlainTransport, Error, Scope.Scope> =>
  setUpIn(controller.contextOf("http-transport"), options)

/** The same in any context. */
export const setUpIn = (
  context: PlainContext,
  options: HttpTransportConfig = {}
): Effect.Effect<PlainTransport, Error, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.suspend(() => fromResult(httpTransport({ port: 0, ...options }).setup(context))),
    ({ disconnect }) => Effect.promise(async () => await disconnect("the test ends"))
  ).pipe(Effect.map((instance) => ({ ...instance, port: instance.address?.port ?? Number.NaN })))

/** Opens an event stream and waits until it has begun. */
export const openEvents = (port: number) =>
  Effect.flatMap(rawHttp.connect(port), (connection) => {
    connection.send(rawHttp.format({ target: "/events" }))
    return Effect.as(
      connection.received.until((text) => text.includes("retry: 2000\n\n")),
      connection
    )
  })

/** Sends a command, and returns what it was answered with. */
export const postCommand = (port: number, command: object) =>
  Effect.map(
    rawHttp.request(port, { method: "POST", target: "/command", body: JSON.stringify(command) }),
    ({ body, status }) => ({ status, body: JSON.parse(body) as unknown })
  )
