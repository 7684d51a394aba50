/**
 * The types of a controller's content, from the schemas of its sources and the documents of the active version, which it
 * reads from the downloads folder.
 */

import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { fileName, isPlainFileName } from "../../files/fileName.ts"
import { explain } from "../../files/systemError.ts"
import type { DocumentSchema } from "../../services/ContentSource.ts"
import type { KeptContent } from "../../services/Plugin.ts"
import { Manifest } from "../../services/VersionStore.ts"
import { isList, readItems, readValue } from "../documents/documentFile.ts"
import { type DocumentShape, declaration } from "./declaration.ts"
import {
  both,
  countFields,
  either,
  keyed,
  nothing,
  type Shape,
  schemaShape,
  valueShape,
  withSeenFields
} from "./Shape.ts"

/** The text of a declaration. If several sources have the same id, the first counts. */
export const contentTypes = Effect.fn("Types.content")(function* (contents: ReadonlyArray<KeptContent>) {
  const shapes = new Map<string, ReadonlyMap<string, DocumentShape>>()
  for (const { directory, sources } of contents) {
    const manifest = yield* readManifest(directory)
    const known = new Map(sources.map((source) => [source.id, source.schema]))
    const ids = [
      ...sources.flatMap(({ hasDocuments = true, id }) => (hasDocuments ? [id] : [])),
      ...Option.match(manifest, {
        onNone: () => [],
        onSome: ({ sources }) => (known.size > 0 ? [] : sources.map(({ sourceId }) => sourceId))
      })
    ]
    for (const id of ids.filter((id) => !shapes.has(id))) {
      const documents = yield* sourceShape(directory, manifest, id, yield* known.get(id) ?? noSchemas)
      if (documents.size > 0) shapes.set(id, documents)
    }
  }
  return declaration(shapes)
})

const noSchemas = Effect.succeed<Readonly<Record<string, DocumentSchema>>>({})

const sourceShape = Effect.fnUntraced(function* (
  directory: string,
  manifest: Option.Option<Manifest>,
  id: string,
  schemas: Readonly<Record<string, DocumentSchema>>
) {
  const names = Object.keys(schemas)
  const seen = yield* Option.match(manifest, {
    onNone: () => Effect.succeed(new Map<string, DocumentShape>()),
    onSome: (manifest) => readSource(directory, manifest, id, names)
  })
  const documents = new Map(seen)
  for (const [name, schema] of Object.entries(schemas)) {
    documents.set(name, documentShape(schema, seen.get(name)))
  }
  return documents
})

/** The type of a document with a known schema; the active version may have the document, too. */
export const documentShape = (
  { holds, isComplete = false, schemas }: DocumentSchema,
  seen: DocumentShape | undefined
): DocumentShape => {
  const expected = schemas.map(schemaShape).reduce(both, "unknown")
  const form = holds ?? seen?.holds ?? "records"
  return seen === undefined || seen.holds !== form
    ? { holds: form, shape: expected }
    : { holds: form, shape: withSeenDocument(expected, seen.shape, isComplete) }
}

const withSeenDocument = (expected: Shape, seen: Shape, isComplete: boolean): Shape => {
  if (expected === "unknown" || expected.object === undefined) return expected === "unknown" ? seen : expected
  const { object = { fields: new Map() } } = seen === "unknown" ? { object: keyed } : seen
  return { object: withSeenFields(expected.object, object, !isComplete) }
}

/** The largest document with one value that is read, in bytes. */
const maxValueBytes = 64 * 1024 ** 2

/** A document with more fields, at all depths, gets no own type. */
const maxFields = 5000

/** The active version of a downloads folder; `None` if there is none. */
export const readManifest = (directory: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const text = yield* fs.readFileString(path.join(directory, "manifest.json"))
    return yield* decodeManifest(text)
  }).pipe(Effect.option)

const decodeManifest = Schema.decode(Schema.parseJson(Manifest))

/**
 * The documents of a source, by their names. `known` are names of documents: the file name of a long name is shortened, and does not
 * reveal it.
 */
const readSource = Effect.fnUntraced(function* (
  directory: string,
  { sources, versionId }: Manifest,
  sourceId: string,
  known: ReadonlyArray<string>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const documents = new Map<string, DocumentShape>()
  if (!isPlainFileName(sourceId) || !sources.some((source) => source.sourceId === sourceId)) return documents
  const folder = path.join(directory, "versions", versionId, sourceId)
  const names = new Map(known.map((name) => [`${fileName(name)}.json`, name]))
  for (const file of (yield* fs.readDirectory(folder)).sort()) {
    const name = names.get(file) ?? documentName(file)
    if (name === undefined) continue
    const document = yield* readDocument(path.join(folder, file))
    if (Option.isSome(document)) documents.set(name, document.value)
    else if (!names.has(file)) documents.set(name, { holds: "value", shape: "unknown" })
  }
  return documents
})

/** `None` for a document that cannot be read, with a warning. */
const readDocument = (file: string) =>
  parseDocument(file).pipe(
    Effect.asSome,
    Effect.catchAll((error) =>
      Effect.as(
        Effect.logWarning(`${file} cannot be read, so the types lack its fields: ${explain(error)}`),
        Option.none<DocumentShape>()
      )
    )
  )

const parseDocument = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  if (yield* isList(file)) {
    return { holds: "records", shape: yield* recordsShape(file) } satisfies DocumentShape
  }
  const { size } = yield* fs.stat(file)
  const shape: Shape = size > maxValueBytes ? "unknown" : bounded(valueShape(yield* readValue(file)))
  return { holds: "value", shape } satisfies DocumentShape
})

/** Marks a document that was not read to its end: it may have other fields. */
const recordsShape = (file: string) =>
  readItems(file).pipe(
    Stream.grouped(1000),
    Stream.runFoldWhile<Shape, Chunk.Chunk<unknown>>(
      nothing,
      (shape) => shape !== "unknown",
      (shape, records) =>
        bounded(Chunk.reduce(records, shape, (shape, record) => either(shape, valueShape(record))))
    )
  )

const bounded = (shape: Shape): Shape => (countFields(shape) > maxFields ? "unknown" : shape)

/** The name of the document in a file at the top of a source; `undefined` for other files, and for shortened names. */
const documentName = (file: string): string | undefined => {
  if (!file.endsWith(".json") || file.startsWith(".")) return undefined
  const name = file
    .slice(0, -".json".length)
    .replace(/%(?:u([0-9A-F]{4})|([0-9A-F]{2}))/g, (_, long: string | undefined, short: string) =>
      String.fromCharCode(Number.parseInt(long ?? short, 16))
    )
  return `${fileName(name)}.json` === file ? name : undefined
}
