/**
 * What only one can have, when many want it at the same moment.
 */
import { once } from "node:events"
import { rename } from "node:fs/promises"
import { createServer } from "node:net"
import { expect } from "@effect/vitest"
import * as Array from "effect/Array"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"

const contenders = 8

/** Lets eight take it at once, each in its own scope; exactly one must have it. Gives why the others have not. */
export const contend = <A, E, R>(
  take: Effect.Effect<A, E, R>
): Effect.Effect<ReadonlyArray<E>, never, Exclude<R, Scope.Scope>> =>
  Effect.gen(function* () {
    const allTried = yield* Deferred.make<void>()
    let tried = 0
    const outcome = take.pipe(
      Effect.either,
      // Whoever has it keeps it until nobody tries any more.
      Effect.tap(() =>
        ++tried === contenders ? Deferred.succeed(allTried, undefined) : Deferred.await(allTried)
      ),
      Effect.scoped
    )
    const outcomes = yield* Effect.replicateEffect(outcome, contenders, { concurrency: "unbounded" })
    expect(outcomes.filter(Either.isRight)).toHaveLength(1)
    return Array.getLefts(outcomes)
  })

/** What a killed process leaves: a socket that nobody listens on. */
export const leaveDeadSocket = (path: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    const server = createServer().listen(`${path}.alive`)
    await once(server, "listening")
    await rename(`${path}.alive`, path)
    await once(server.close(), "close")
  })
