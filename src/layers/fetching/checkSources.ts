/**
 * Finds out what a fetch of sources would change, and what one source would save. Changes nothing.
 */
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { ContentCounts } from "../../internal/contentCounts.ts"
import { printableLine } from "../../internal/printable.ts"
import type { ContentCheck } from "../../services/ContentCheck.ts"
import { type ContentSample, NoSuchSource, type SampledDocument } from "../../services/ContentSample.ts"
import type { ContentSource } from "../../services/ContentSource.ts"
import { SourceError } from "../../services/SourceError.ts"
import { type StagedVersion, type VersionSource, VersionStore } from "../../services/VersionStore.ts"
import { changedFiles, compareFiles } from "../comparing/compareVersions.ts"
import { readValue } from "../documents/documentFile.ts"
import { looksLikeLink } from "../documents/media/links.ts"
import { isShownType } from "../documents/media/mediaTypes.ts"
import { fetchSource, placedWarnings, withoutSource } from "./fetchSource.ts"

/** Gives the changes that a fetch of all sources would make. `keep` gives what a fetch keeps of a source that fails. */
export const checkSources = Effect.fn("Content.check")(function* (
  sources: ReadonlyArray<ContentSource>,
  keep: Keep
) {
  const staged = yield* (yield* VersionStore).stage
  const checks = yield* Effect.forEach(
    sources,
    (source) =>
      Effect.catchTag(checkSource(source, staged), "vitrine/SourceError", (error) =>
        Effect.map(keep(source, staged, error), ({ fingerprint, keptSince, sourceId, ...counts }) => ({
          checked: { sourceId, changed: false, ...counts },
          before: { sourceId, ...none },
          after: { sourceId, ...none },
          failed: { error, kept: { sourceId, since: keptSince, message: withoutSource(error) } }
        }))
      ),
    { concurrency: "unbounded" }
  )
  const failed = checks.flatMap((check) => ("failed" in check ? [check.failed] : []))
  if (failed.length === checks.length && failed[0] !== undefined) yield* failed[0].error
  const removed = Array.difference(
    staged.previousIds,
    sources.map(({ id }) => id)
  ).map((sourceId) => ({ sourceId, ...Option.getOrElse(staged.previous(sourceId), () => none) }))
  const before = [...checks.map(({ before }) => before), ...removed]
  const after = checks.map(({ after }) => after)
  const differences = yield* compareFiles(changedFiles(before, after), folderIn(before), folderIn(after))
  return {
    sources: [
      ...checks.map(({ checked }) => checked),
      ...removed.map(({ sourceId }) => ({ sourceId, changed: true, removed: true as const, records: 0 }))
    ],
    kept: failed.length === 0 ? undefined : failed.map(({ kept }) => kept),
    ...differences
  } satisfies ContentCheck
}, Effect.scoped)

/** The content that a fetch keeps of a source that fails; fails if it keeps nothing. */
export type Keep = (
  source: ContentSource,
  staged: StagedVersion,
  error: SourceError
) => Effect.Effect<VersionSource & ContentCounts & { readonly keptSince: string }, SourceError>

/** Fetches one source, and gives its files now and before; no files if the source has not changed. */
const checkSource = Effect.fnUntraced(function* (source: ContentSource, staged: StagedVersion) {
  const fetched = yield* fetchSource(source, staged, () => Effect.void, true)
  const { directory, version, ...found } = fetched
  const { fingerprint, sourceId } = version
  const previous = staged.previous(sourceId)
  const changed = isChange(previous, fingerprint)
  return {
    checked: { sourceId, changed, ...found },
    before: { sourceId, ...(changed ? Option.getOrElse(previous, () => none) : none) },
    after: { ...version, directory, files: changed ? yield* staged.files(version) : {} }
  }
})

const none = { directory: "", files: {} }

const isChange = (previous: ReturnType<StagedVersion["previous"]>, fingerprint: string): boolean =>
  !Option.exists(previous, (previous) => Option.contains(previous.fingerprint, fingerprint))

const folderIn =
  (sources: ReadonlyArray<{ readonly sourceId: string; readonly directory: string }>) => (id: string) =>
    sources.find(({ sourceId }) => sourceId === id)?.directory ?? ""

/** Fetches a sample of the source with this id, as small as possible. */
export const sampleSource = Effect.fn("Content.sample")(function* (
  sources: ReadonlyArray<ContentSource>,
  sourceId: string
) {
  const source = sources.find(({ id }) => id === sourceId)
  if (source === undefined) {
    return yield* new NoSuchSource({ source: sourceId, sources: sources.map(({ id }) => id) })
  }
  const fs = yield* FileSystem.FileSystem
  const staged = yield* (yield* VersionStore).stage
  const directory = yield* staged.sourceDirectory(sourceId)
  const previous = staged.previous(sourceId)
  const failed = (cause: unknown) => new SourceError({ source: sourceId, cause })
  const { documents, fingerprint, warnings } = yield* source
    .fetch({ directory, previous, isCheck: true, isSample: true, progress: () => Effect.void })
    .pipe(Effect.catchAllDefect(failed))
  const folder =
    Option.isSome(previous) && !isChange(previous, fingerprint) ? previous.value.directory : directory
  const sampled = yield* Effect.gen(function* () {
    const names = documents === undefined ? yield* fs.readDirectory(folder) : Object.keys(documents)
    const json = names.filter((name) => name.endsWith(".json")).sort()
    return yield* Effect.forEach(json, (name) => sampleDocument(folder, name))
  }).pipe(Effect.mapError(failed))
  return {
    sourceId,
    sampled,
    warnings: placedWarnings(sourceId, warnings)
  } satisfies ContentSample
}, Effect.scoped)

/** The largest document that is described, in bytes. */
const maxBytes = 64 * 1024 ** 2

const sampleDocument = Effect.fnUntraced(function* (folder: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const file = join(folder, name)
  const { size } = yield* fs.stat(file)
  const json = size > maxBytes ? [] : yield* readValue(file)
  return { path: name, ...describeDocument(json) }
})

type Fields = Readonly<Record<string, unknown>>

/** How many records of a list have their fields described. */
const maxRecords = 100
const maxFields = 100
const maxLinks = 20
const maxDepth = 20

/** Describes the content of a document for people who have not seen it. */
export const describeDocument = (json: unknown): Omit<SampledDocument, "path"> => {
  const links = linksIn(json)
  return globalThis.Array.isArray(json)
    ? { holds: "records", records: json.length, fields: fieldsOf(json.slice(0, maxRecords)), links }
    : { holds: "value", records: 1, fields: fieldsOf([json]), links }
}

/** The fields of records and of nested objects: `title`, `title.rendered`. */
const fieldsOf = (records: ReadonlyArray<unknown>): SampledDocument["fields"] => {
  const objects = records.filter(Predicate.isReadonlyRecord)
  return namesIn(objects)
    .flatMap((name) => {
      const values = valuesOf(objects, name)
      const inner = values.filter(Predicate.isReadonlyRecord)
      const members = namesIn(inner).map((member) =>
        describeField(`${name}.${member}`, valuesOf(inner, member))
      )
      return [describeField(name, values), ...members]
    })
    .slice(0, maxFields)
}

const namesIn = (objects: ReadonlyArray<object>): ReadonlyArray<string> =>
  [...new Set(objects.flatMap(Object.keys))].slice(0, maxFields)

const valuesOf = (objects: ReadonlyArray<Fields>, name: string) =>
  objects.map((object) => valueOf(object, name))

const valueOf = (object: Fields, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined

const describeField = (name: string, values: ReadonlyArray<unknown>): SampledDocument["fields"][number] => {
  const example = values.find((value) => Predicate.isString(value) || Predicate.isNumber(value))
  return {
    field: printableLine(name, 60),
    types: [...new Set(values.map(typeOf))].sort(),
    example:
      example === undefined || example === "" ? undefined : printableLine(withoutQuery(String(example)), 40)
  }
}

const typeOf = (value: unknown): string =>
  Predicate.isNullable(value) || value === ""
    ? "nothing"
    : globalThis.Array.isArray(value)
      ? "list"
      : Predicate.isString(value)
        ? "text"
        : typeof value

/** Parameters of a link may be secret. */
const withoutQuery = (text: string): string => (looksLikeLink(text) ? text.replace(/[?#].*$/s, "") : text)

const linksIn = (json: unknown): SampledDocument["links"] => {
  const found = new Map<string, { readonly path: string; readonly count: number; readonly example: string }>()

  const visit = (value: unknown, path: ReadonlyArray<string>): void => {
    if (path.length > maxDepth) return
    if (Predicate.isString(value)) {
      const link = withoutQuery(value)
      if (!looksLikeLink(value) || !isShownType(link)) return
      const place = path.join(".")
      const before = found.get(place)
      if (before === undefined && found.size === maxLinks) return
      const example = before?.example ?? printableLine(link, 120)
      found.set(place, { path: printableLine(place, 200), count: (before?.count ?? 0) + 1, example })
    } else if (globalThis.Array.isArray(value)) {
      for (const item of value) visit(item, [...path, "*"])
    } else if (Predicate.isReadonlyRecord(value)) {
      for (const [name, member] of Object.entries(value)) {
        visit(member, [...path, name.replace(/[\\.*]/g, "\\$&")])
      }
    }
  }

  visit(json, [])
  return [...found.values()]
}
