/**
 * Fetches one source into a version.
 */

import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { contentCounts, sumCounts } from "../../internal/contentCounts.ts"
import { MistakeSchema, mistakeText } from "../../internal/mistake.ts"
import { issueText, placedIssues } from "../../internal/Options.ts"
import { messageOf, serializeError } from "../../internal/SerializedError.ts"
import { count, optional } from "../../internal/schemas.ts"
import type { FetchError } from "../../services/Content.ts"
import {
  type ContentSource,
  FetchedAttachments,
  type FetchedSource,
  type SourceProgress
} from "../../services/ContentSource.ts"
import { SourceError } from "../../services/SourceError.ts"
import type { StagedVersion } from "../../services/VersionStore.ts"
import { Warning } from "../../services/Warning.ts"
import { within } from "../documents/warnings.ts"
import { setRecords, timestamp } from "./contentState.ts"
import type { Report } from "./Provider.ts"

/** Fetches into the folder of the source in a staged version. */
export const fetchSource = Effect.fn("Content.fetchSource")(
  function* (source: ContentSource, staged: StagedVersion, report: Report, isCheck: boolean = false) {
    const sourceId = source.id
    yield* Effect.annotateCurrentSpan("source", sourceId)
    yield* report({ name: "content:source:start", payload: { timestamp: yield* timestamp, sourceId } })
    const directory = yield* staged.sourceDirectory(sourceId)
    const target = {
      directory,
      previous: staged.previous(sourceId),
      progress: (progress: SourceProgress) =>
        report({ name: "content:source:progress", payload: { sourceId, ...progress } }),
      isCheck
    }
    const [duration, { digests, documents = {}, fingerprint, warnings: given = [], ...counts }] =
      yield* Effect.timed(
        source.fetch(target).pipe(
          Effect.catchAllDefect((cause) => new SourceError({ source: sourceId, cause })),
          Effect.flatMap(checkResult(sourceId))
        )
      )
    const warnings = placedWarnings(sourceId, given)
    yield* report({
      name: "content:source:done",
      payload: {
        timestamp: yield* timestamp,
        sourceId,
        ...counts,
        warnings,
        durationMs: Math.round(Duration.toMillis(duration))
      }
    })
    const { attachments, bytes, records } = counts
    const counted = sumCounts([counts])
    yield* Effect.annotateCurrentSpan({ records, bytes, attachments: attachments?.total ?? 0 })
    if (!isCheck) {
      yield* setRecords(sourceId, records)
      yield* source.report?.(given.map((warning) => ({ ...problemOf(warning), isRejected: false }))) ??
        Effect.void
    }
    return {
      version: {
        sourceId,
        fingerprint,
        ...counted,
        digests,
        keys: keysOf(documents)
      },
      directory,
      ...counted,
      warnings
    }
  },
  (effect, source, _staged, report, isCheck = false) =>
    Effect.tapError(effect, (error) =>
      Effect.gen(function* () {
        const sourceId = source.id
        if (!isCheck && error instanceof SourceError) yield* reportFailure(source, error)
        const failure = { timestamp: yield* timestamp, sourceId, error: serializeError(error) }
        yield* report({ name: "content:source:error", payload: failure })
        const violations = violationsOf(error)
        if (violations !== undefined) {
          yield* report({ name: "content:version:rejected", payload: { ...failure, violations } })
        }
      })
    )
)

/** The warnings of a source, with its id in their subjects. */
export const placedWarnings = (sourceId: string, warnings: FetchedSource["warnings"] = []) =>
  warnings.length === 0
    ? undefined
    : warnings
        .map((warning) =>
          Predicate.isString(warning)
            ? { code: "content:note", subject: "", text: warning }
            : { code: warning.code, subject: warning.subject, text: warning.text }
        )
        .map(within(sourceId))

const problemOf = (warning: Warning | string) => {
  const { mistake, text } = Predicate.isString(warning) ? { mistake: undefined, text: warning } : warning
  return { mistake, text }
}

/** Sources of users need not be written in TypeScript. */
const checkResult = (source: string) => (result: FetchedSource) =>
  Effect.mapError(
    validateFetched(result),
    (error) =>
      new SourceError({
        source,
        detail: `its function "fetch" returned something else than expected. ${issueText(placedIssues(error))}`
      })
  )

const validateFetched = Schema.validate(
  Schema.Struct({
    fingerprint: Schema.String,
    ...contentCounts,
    bytes: count,
    attachments: optional(FetchedAttachments),
    digests: optional(Schema.Record({ key: Schema.String, value: Schema.String })),
    documents: optional(
      Schema.Record({
        key: Schema.String,
        value: Schema.Struct({
          key: optional(Schema.Array(Schema.String)),
          url: optional(Schema.String)
        })
      })
    ),
    warnings: optional(
      Schema.Array(
        Schema.Union(
          Schema.Struct({ ...Warning.fields, mistake: Schema.optional(MistakeSchema) }),
          Schema.String
        )
      )
    )
  })
)

/** Tells a source that its content has a problem, if a person has to act. */
export const reportFailure = ({ report }: ContentSource, error: SourceError): Effect.Effect<void> =>
  error.isTransient
    ? Effect.void
    : (report?.(
        error.mistakes?.map((mistake) => ({ isRejected: true, text: mistakeText(mistake), mistake })) ??
          withoutSource(error)
            .split("\n")
            .map((text) => ({ isRejected: true, text }))
      ) ?? Effect.void)

/** The message without the name of the source. */
export const withoutSource = (error: SourceError): string =>
  [error.place, error.detail ?? messageOf(error.cause)].filter((text) => text !== undefined).join(": ")

/** The keys of documents whose records are not identified by `id`. */
const keysOf = (documents: NonNullable<FetchedSource["documents"]>) => {
  const keys = Record.filterMap(documents, ({ key }) => Option.fromNullable(key))
  return Record.isEmptyRecord(keys) ? undefined : keys
}

/** Why a version was rejected; `undefined` if a fetch failed for another reason. */
export const violationsOf = (error: FetchError): SourceError["violations"] =>
  error._tag === "vitrine/SourceError" ? error.violations : undefined
