/**
 * A source of documents with the files that these link to (docs/content.md).
 *
 * ```
 * <source id>/media/<name>-<hash>.<extension>    the files
 * <source id>/media/files.json                   what tells whether they have changed
 * ```
 *
 * It asks for the files at each fetch of the source: once for each that the version before has, unless the document proves that it
 * is still the same.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import { withoutParentSpan } from "../../../internal/withoutParentSpan.ts"
import {
  type ContentSource,
  type FetchedSource,
  type FetchTarget,
  SourceFailed,
  type SourceProgress
} from "../../../services/ContentSource.ts"
import * as AddMedia from "./AddMedia.ts"
import type { Fetched } from "./SourceFolder.ts"

type Environment = FileSystem.FileSystem | Path.Path | HttpClient.HttpClient

/**
 * The source, with the files that its documents link to, and smaller pictures of those that are pictures:
 * `withMedia({ find: ["**.image.url"] })(source)` is a source in the place of the other, and so is `withMedia({ images })(source)`, of
 * which only the files of the source itself get sizes.
 */
export const withMedia =
  (settings: AddMedia.MediaSettings) =>
  (source: ContentSource): Effect.Effect<ContentSource, never, Environment | Scope.Scope> =>
    Effect.gen(function* () {
      const environment = yield* withoutParentSpan(Effect.context<Environment>())
      const addMedia = yield* AddMedia.make(settings)
      return {
        ...source,
        fetch: (target) =>
          (target.isSample === true ? source.fetch(target) : fetchWith(source, target, addMedia)).pipe(
            Effect.mapError((cause) =>
              cause instanceof SourceFailed
                ? cause
                : new SourceFailed({ sourceId: source.id, cause, isTransient: cause.isTransient })
            ),
            Effect.annotateLogs("source", source.id),
            Effect.provide(environment)
          )
      } satisfies ContentSource
    })

const fetchWith = Effect.fnUntraced(function* <E, R>(
  source: ContentSource,
  target: FetchTarget,
  addMedia: (fetched: Fetched) => Effect.Effect<FetchedSource, E, R>
) {
  const previous = Option.map(target.previous, (content) => ({
    ...content,
    fingerprint: Option.flatMap(content.fingerprint, AddMedia.innerOf)
  }))
  const latest = yield* Ref.make(Option.none<SourceProgress>())
  const inner = yield* source.fetch({
    ...target,
    previous,
    progress: (step) => Effect.zipRight(Ref.set(latest, Option.some(step)), target.progress(step))
  })
  const progress = Option.getOrElse(yield* Ref.get(latest), () => ({
    document: source.id,
    documents: { done: 0, total: 0 },
    records: inner.records
  }))
  return yield* addMedia({
    target,
    inner,
    unchanged: Option.filter(previous, ({ fingerprint }) => Option.contains(fingerprint, inner.fingerprint)),
    progress
  })
})
