/**
 * The failures of a source: one kind of error, without the secrets that it has sent.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { causeWithoutSecrets, messageOf } from "../../internal/SerializedError.ts"
import { SourceError } from "../../services/SourceError.ts"
import type { Violation } from "../../services/Violation.ts"
import { SentSecrets } from "../httpClient/secrets.ts"
import type { DocumentsError } from "./Document.ts"
import { FileProblem, failureOfFile, LinkExpired } from "./media/FileProblem.ts"

/** Turns the failures of an effect into failures of the source, without sent secrets, which servers may repeat. */
export const sourceErrors = <A, E extends DocumentsError, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, SourceError, R> =>
  Effect.flatMap(SentSecrets, ({ hide }) =>
    Effect.mapError(effect, (error) => withoutSecrets(sourceErrorOf(error), hide))
  )

/** Adds the id of the source. */
export const failureOf =
  (source: string) =>
  (error: DocumentsError): SourceError =>
    withFields(sourceErrorOf(error), { source })

const sourceErrorOf = (error: DocumentsError): SourceError =>
  error instanceof SourceError
    ? error
    : error instanceof LinkExpired
      ? error.error
      : error instanceof FileProblem
        ? failureOfFile(error)
        : new SourceError({ detail: messageOf(error), isTransient: error.isTransient, cause: error })

/** Spreading an error loses its cause, so the cause is set again. */
const withFields = (error: SourceError, fields: Partial<ConstructorParameters<typeof SourceError>[0]>) =>
  new SourceError({ ...error, cause: error.cause, ...fields })

/** Without its cause if the cause contains a secret: it may be any error of a step. */
const withoutSecrets = (error: SourceError, hide: (text: string) => string): SourceError =>
  withFields(error, {
    place: error.place && hide(error.place),
    detail: error.detail && hide(error.detail),
    mistakes: hide(error.message) === error.message ? error.mistakes : undefined,
    violations: error.violations && Array.map(error.violations, (violation) => hidden(violation, hide)),
    cause: causeWithoutSecrets(error.cause, hide)
  })

const hidden = (
  { field, found, hint, recordId, rows, ...violation }: Violation,
  hide: (text: string) => string
) => ({
  ...violation,
  recordId: recordId && hide(recordId),
  field: field && hide(field),
  hint: hint && hide(hint),
  rows: rows && Array.map(rows, ({ id, row }) => ({ row, id: id && hide(id) })),
  found: hide(found)
})
