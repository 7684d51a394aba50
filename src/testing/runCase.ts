/**
 * Runs a case of a suite: a generator that gets its subject, as the body of an `Effect.gen`.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { YieldWrap } from "effect/Utils"

/** Any failure of an effect in it fails the case. */
export type Case<Given, R = never> = (
  given: Given
) => Generator<YieldWrap<Effect.Effect<unknown, unknown, R | Scope.Scope>>, void>

/** Everything that the case opens ends with the case. */
export const runCase = <Given, R = never, R2 = never>(
  given: Effect.Effect<Given, unknown, R2>,
  test: Case<Given, R>
) => Effect.scoped(Effect.flatMap(given, (value) => Effect.gen(() => test(value))))
