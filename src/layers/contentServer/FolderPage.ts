/**
 * The page in its own folder.
 */
import { basename } from "node:path"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { isPlainFileName } from "../../files/fileName.ts"
import { NotFound } from "../http/errors.ts"
import type { ContentServerOptions } from "./ContentServerOptions.ts"
import * as PlainFiles from "./PlainFile.ts"
import { isDocument, notFound, type Page, pageResource, partOfBuild } from "./resource.ts"
import * as SiteBuild from "./SiteBuild.ts"

export const make = Effect.fnUntraced(function* (
  site: string,
  options: Pick<ContentServerOptions, "content">
) {
  const path = yield* Path.Path
  const { current } = yield* SiteBuild.make(site, options)
  const files = PlainFiles.make(site, path)
  return {
    build: () => current,

    find: Effect.fnUntraced(function* ({ names, raw }) {
      const inFolder = names.at(-1) === ""
      const below = inFolder ? names.slice(0, -1) : names
      const asked = notFound(names)
      if (!below.every(isPlainFileName)) {
        return yield* asked
      }
      const found = yield* files.find(inFolder ? [...below, "index.html"] : below)
      if (Option.isNone(found)) {
        return (yield* files.isThere)
          ? yield* asked
          : yield* new NotFound({ message: `The folder of the page is missing: ${basename(site)}` })
      }
      if (found.value.type === "Directory") {
        return inFolder ? yield* asked : { _tag: "Redirect" as const, location: `${raw}/` }
      }
      const resource = pageResource(found.value)
      return isDocument(found.value.file) ? partOfBuild(resource, yield* current) : resource
    })
  } satisfies Page
})
