/**
 * The types of a controller's content, from the schemas of its sources and the documents of the active version.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { DocumentSchema } from "../../services/ContentSource.ts"
import type { KeptContent } from "../../services/Plugin.ts"
import type { Manifest } from "../../services/VersionStore.ts"
import { type DocumentShape, declaration } from "./declaration.ts"
import { readManifest, readSource } from "./readContent.ts"
import { both, keyed, type Shape, withSeenFields } from "./Shape.ts"
import { schemaShape } from "./schemaShape.ts"

/** The text of a declaration. If several sources have the same id, the first counts. */
export const contentTypes = Effect.fn("Types.content")(function* (contents: ReadonlyArray<KeptContent>) {
  const shapes = new Map<string, ReadonlyMap<string, DocumentShape>>()
  for (const { directory, sources } of contents) {
    const manifest = yield* readManifest(directory)
    const known = new Map(sources.map((source) => [source.id, source.schema]))
    const ids = [
      ...known.keys(),
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
