/**
 * Random histories of a controller in the time of the test clock.
 */
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import type * as Scope from "effect/Scope"
import * as TestContext from "effect/TestContext"
import { withLog } from "./logged.ts"

/** Runs the test with random histories of up to 20 steps, and with the examples; `HISTORIES` is their number. */
export const assertHistories = <Step>(
  step: FastCheck.Arbitrary<Step>,
  test: (steps: ReadonlyArray<Step>) => Effect.Effect<void, unknown, Scope.Scope>,
  examples: ReadonlyArray<ReadonlyArray<Step>> = []
): Promise<void> =>
  FastCheck.assert(
    FastCheck.asyncProperty(FastCheck.array(step, { minLength: 1, maxLength: 20, size: "medium" }), (steps) =>
      Effect.runPromise(test(steps).pipe(Effect.scoped, withLog([]), Effect.provide(TestContext.TestContext)))
    ),
    { numRuns: Number(process.env.HISTORIES ?? 4), examples: examples.map((steps) => [[...steps]]) }
  )
