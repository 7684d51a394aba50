/**
 * How the suites run a case: with what it is given, as the body of an `Effect.gen`.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { YieldWrap } from "effect/Utils"

/** Whatever an effect in it fails with fails the case. */
export type Case<Given, R = never> = (
  given: Given
) => Generator<YieldWrap<Effect.Effect<unknown, unknown, R | Scope.Scope>>, void>

/** Whatever the case opens has ended when it has. */
export const runCase = <Given, R = never, R2 = never>(
  given: Effect.Effect<Given, unknown, R2>,
  test: Case<Given, R>
) => Effect.scoped(Effect.flatMap(given, (value) => Effect.gen(() => test(value))))
