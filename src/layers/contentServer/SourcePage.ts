/**
 * The page as part of the content: the files of a source in the active version.
 *
 * A page that was opened earlier may still load parts of its own build, as long as a version on disk has them.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import type { Manifest, VersionId } from "../../services/VersionStore.ts"
import { NotFound } from "../http/errors.ts"
import { isDocument, notFound, type Page, partOfBuild, storedPageResource } from "./resource.ts"
import { digestOf } from "./SiteBuild.ts"
import { isVersionId, noManifest, type VersionFiles, type VersionList } from "./VersionFiles.ts"

export const make = (source: string, stored: VersionFiles): Page => {
  const builds = new WeakMap<VersionList, Option.Option<string>>()
  const warnOnce = makeWarnOnce((text) => text)

  const buildOf = (list: VersionList): Option.Option<string> => {
    const build =
      builds.get(list) ??
      Option.map(Option.fromNullable(list.sources.get(source)), (files) =>
        digestOf(
          Object.entries(files)
            .map(([path, { sha256 }]) => [path, sha256] as const)
            .sort(([one], [other]) => (one < other ? -1 : 1))
        )
      )
    builds.set(list, build)
    return build
  }

  /** A file of the active version, or of the version in the query. A page of the latter has no build, so no new build reloads it. */
  const document = Effect.fnUntraced(function* ({ held, versionId }: Manifest, path: string, asked: string) {
    const other = asked === "waiting" ? held?.waiting : isVersionId(asked) ? asked : undefined
    const preview =
      other === undefined || other === versionId
        ? Option.none()
        : yield* Effect.catchTag(stored.find(other, path), "vitrine/NotFound", () => Effect.succeedNone)
    return Option.isSome(preview)
      ? Option.map(preview, storedPageResource)
      : Option.map(yield* stored.find(versionId, path), (found) =>
          partOfBuild(storedPageResource(found), buildOf(found.list), versionId)
        )
  })

  const missing = Effect.fnUntraced(function* (versionId: VersionId, names: ReadonlyArray<string>) {
    const { find, sources } = yield* stored.list(versionId)
    if (!sources.has(source)) {
      const message = `The version ${versionId} has no source "${source}" for the page. It has: ${[...sources.keys()].join(", ")}.`
      yield* warnOnce(message)
      return yield* new NotFound({ message })
    }
    if (Option.isNone(find(`${source}/index.html`))) {
      return yield* new NotFound({
        message: `The version ${versionId} has no page: there is no index.html in its source "${source}". Is the page built?`
      })
    }
    return yield* notFound(names)
  })

  return {
    build: (active) =>
      Effect.flatMap(active, ({ versionId }) => stored.list(versionId)).pipe(
        Effect.map(buildOf),
        Effect.catchTags({
          NoSuchElementException: () => Effect.succeedNone,
          "vitrine/NotFound": () => Effect.succeedNone
        })
      ),

    find: Effect.fnUntraced(function* ({ active, names, raw, version }) {
      if (Option.isNone(active)) return yield* noManifest
      const { versionId } = active.value
      const inFolder = names.at(-1) === ""
      const path = [source, ...(inFolder ? [...names.slice(0, -1), "index.html"] : names)].join("/")
      const found = isDocument(path)
        ? yield* document(active.value, path, version)
        : Option.map(yield* stored.findInAny(Option.some(versionId), path), storedPageResource)
      if (Option.isSome(found)) return found.value
      const isFolder = Option.isSome(yield* stored.find(versionId, `${path}/index.html`))
      return isFolder ? { _tag: "Redirect" as const, location: `${raw}/` } : yield* missing(versionId, names)
    })
  }
}
