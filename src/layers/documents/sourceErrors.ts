/**
 * How a source fails: with one kind of error, in which no secret is that it has sent.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { causeWithoutSecrets, messageOf } from "../../internal/SerializedError.ts"
import { SourceError } from "../../services/SourceError.ts"
import type { Violation } from "../../services/Violation.ts"
import { SentSecrets } from "../httpClient/secrets.ts"
import type { DocumentsError } from "./DocumentSource.ts"
import { NotAsExpected } from "./expect/Expectations.ts"

/** The failures of an effect, as the source fails with them. Servers may repeat what was sent: that is taken out. */
export const sourceErrors = <A, E extends DocumentsError, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, SourceError, R> =>
  Effect.flatMap(SentSecrets, ({ hide }) =>
    Effect.mapError(effect, (error) => withoutSecrets(sourceErrorOf(error), hide))
  )

/** Says whose failure it is. */
export const failureOf =
  (source: string) =>
  (error: DocumentsError): SourceError =>
    withFields(sourceErrorOf(error), { source })

const sourceErrorOf = (error: DocumentsError): SourceError =>
  error instanceof SourceError
    ? error
    : new SourceError({
        detail: messageOf(error),
        isTransient: error.isTransient,
        violations: error instanceof NotAsExpected ? error.violations : undefined,
        cause: error
      })

/** An error has no cause where its fields are spread. */
const withFields = (error: SourceError, fields: Partial<ConstructorParameters<typeof SourceError>[0]>) =>
  new SourceError({ ...error, cause: error.cause, ...fields })

/** Without its cause if that has a secret: it may be any error of a step. */
const withoutSecrets = (error: SourceError, hide: (text: string) => string): SourceError =>
  withFields(error, {
    place: error.place && hide(error.place),
    detail: error.detail && hide(error.detail),
    violations: error.violations && Array.map(error.violations, (violation) => hidden(violation, hide)),
    cause: causeWithoutSecrets(error.cause, hide)
  })

const hidden = (
  { field, found, hint, recordId, ...violation }: Violation,
  hide: (text: string) => string
) => ({
  ...violation,
  ...(recordId !== undefined && { recordId: hide(recordId) }),
  ...(field !== undefined && { field: hide(field) }),
  found: hide(found),
  ...(hint !== undefined && { hint: hide(hint) })
})
