/**
 * Finds out what one source would save, and fetches as little as possible.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type ContentSample, NoSuchSource } from "../../services/ContentSample.ts"
import type { ContentSource } from "../../services/ContentSource.ts"
import { SourceError } from "../../services/SourceError.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { describeDocument } from "./describeDocument.ts"

/** The largest document that is described, in bytes. */
const maxBytes = 64 * 1024 ** 2

const parse = Schema.decodeUnknown(Schema.parseJson())

export const makeSample = (sources: ReadonlyArray<ContentSource>) =>
  Effect.gen(function* () {
    const store = yield* VersionStore
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path

    const describe = Effect.fnUntraced(function* (folder: string, name: string) {
      const file = path.join(folder, name)
      const { size } = yield* fileSystem.stat(file)
      if (size > maxBytes) {
        const found = { holds: "records" as const, records: 0, fields: [], links: [] }
        return { path: name, ...found }
      }
      const json = yield* Effect.flatMap(fileSystem.readFileString(file), parse)
      return { path: name, ...describeDocument(json) }
    })

    const sample = Effect.fn("Content.sample")(function* (source: ContentSource) {
      const staged = yield* store.stage
      const sourceId = source.id
      const directory = yield* staged.sourceDirectory(sourceId)
      const previous = staged.previous(sourceId)
      const fetched = yield* source
        .fetch({ directory, previous, isCheck: true, isSample: true, progress: () => Effect.void })
        .pipe(Effect.catchAllDefect((cause) => new SourceError({ source: sourceId, cause })))
      const folder = Option.match(previous, {
        onNone: () => directory,
        onSome: (content) =>
          Option.contains(content.fingerprint, fetched.fingerprint) ? content.directory : directory
      })
      const { documents, warnings = [] } = fetched
      const sampled = yield* Effect.gen(function* () {
        const names =
          documents === undefined ? yield* fileSystem.readDirectory(folder) : Object.keys(documents)
        const json = names.filter((name) => name.endsWith(".json")).sort()
        return yield* Effect.forEach(json, (name) => describe(folder, name))
      }).pipe(Effect.mapError((cause) => new SourceError({ source: sourceId, cause })))
      return {
        sourceId,
        sampled,
        ...(warnings.length === 0 ? {} : { warnings })
      } satisfies ContentSample
    }, Effect.scoped)

    return (id: string) => {
      const source = sources.find((source) => source.id === id)
      return source === undefined
        ? Effect.fail(new NoSuchSource({ source: id, sources: sources.map(({ id }) => id) }))
        : sample(source)
    }
  })
