/**
 * A document after its steps.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { printableLine } from "../../internal/printable.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import type { SourceError } from "../../services/SourceError.ts"
import { type Document, type FailedIn, Value, wholeOf, withPlacesOf } from "./Document.ts"
import type { Step } from "./DocumentOptions.ts"
import { asJson, maxDetail } from "./jsonValues.ts"

/** Runs the steps on the whole document. Without steps it stays as it is. */
export const withSteps = <E>(
  document: Document<E>,
  steps: ReadonlyArray<Step>,
  failed: FailedIn
): Document<E | SourceError> =>
  steps.length === 0
    ? document
    : {
        ...document,
        isSorted: false,
        content: Value({
          value: Effect.flatMap(wholeOf(document.content), (value) =>
            runSteps(document.name, value, steps, failed)
          )
        })
      }

const runSteps = Effect.fnUntraced(function* (
  name: string,
  start: unknown,
  steps: ReadonlyArray<Step>,
  failed: FailedIn
) {
  let value = start
  for (const [index, step] of steps.entries()) {
    const before = value
    const called = `step ${index + 1}${step.name === "" ? "" : ` (${step.name})`}`
    const onValue = Array.isArray(before) ? "" : `, which got ${kindOf(before)} and no list of records`
    const given = yield* Effect.tryPromise({
      try: async () => step(before, { name }),
      catch: (cause) =>
        failed(`${called} failed${onValue}: ${printableLine(messageOf(cause), maxDetail)}`, cause)
    })
    const json = yield* Effect.mapError(asJson(given), (found) => failed(`${called} gives ${found}`))
    value = withPlacesOf(given, json)
  }
  return value
})

const kindOf = (value: unknown): string =>
  Predicate.isRecord(value) ? "an object" : value === null ? "null" : `a ${typeof value}`
