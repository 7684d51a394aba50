/**
 * What a source has put into its folder, and what it left in the version before.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { linkOrCopy } from "../../../internal/reuseFile.ts"
import { explain } from "../../../internal/systemError.ts"
import type {
  FetchedSource,
  FetchTarget,
  PreviousContent,
  SourceProgress
} from "../../../services/ContentSource.ts"
import { isImagePath } from "../images/recipe.ts"
import { MediaDocumentNotSaved } from "./errors.ts"
import { isMediaPath } from "./fileNames.ts"
import type { SearchedDocument, SourceDocument } from "./findMedia.ts"
import * as MediaIndex from "./MediaIndex.ts"

/** What the source itself gave, and what is known of the version before. */
export interface Fetched {
  readonly target: FetchTarget
  readonly inner: FetchedSource
  /** Where the source itself has not changed: its folder may be incomplete, and the version before has everything. */
  readonly unchanged: Option.Option<PreviousContent>
  readonly progress: SourceProgress
}

export const make = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const jsonFiles = (directory: string) =>
    Effect.mapBoth(fileSystem.readDirectory(directory), {
      onSuccess: (names) => names.filter(isDocument),
      onFailure: (cause) => notSaved(directory, `it cannot be read: ${explain(cause)}`, cause)
    })

  /** Its documents; those that it did not save again are in the version before. */
  const documentsOf = Effect.fnUntraced(function* ({ inner, target: { directory }, unchanged }: Fetched) {
    const before = Option.match(unchanged, { onNone: () => [], onSome: ({ files }) => Object.keys(files) })
    const named =
      inner.documents ??
      Object.fromEntries(
        [...(yield* jsonFiles(directory)), ...before.filter(isDocument)].map((name) => [name, {}])
      )
    return yield* Effect.forEach(Object.entries(named).sort(byName), ([name, document]) => {
      const file = path.join(directory, name)
      return Effect.map(
        Effect.orElseSucceed(fileSystem.exists(file), () => false),
        (isThere): SourceDocument => ({
          ...document,
          name,
          file: Option.match(
            Option.filter(unchanged, () => !isThere),
            { onNone: () => file, onSome: (content) => path.join(content.directory, name) }
          )
        })
      )
    })
  })

  /** Takes a file over from elsewhere. */
  const linkFile = (name: string, from: string, directory: string) => {
    const file = path.join(directory, name)
    return fileSystem.makeDirectory(path.dirname(file), { recursive: true }).pipe(
      Effect.zipRight(linkOrCopy(from, file)),
      Effect.mapError((cause) => notSaved(name, `it cannot be reused: ${explain(cause)}`, cause))
    )
  }

  /** Takes over what the source has left out because nothing of it has changed. */
  const takeOverRest = Effect.fnUntraced(function* (
    { target: { directory }, unchanged }: Fetched,
    documents: ReadonlyArray<SearchedDocument>
  ) {
    if (Option.isNone(unchanged)) return {}
    const own = new Set(documents.map(({ name }) => name))
    const names = Object.keys(unchanged.value.files).filter(
      (name) => !own.has(name) && !isMediaPath(name) && !isImagePath(name) && name !== MediaIndex.indexPath
    )
    yield* Effect.forEach(
      names,
      (name) =>
        Effect.unlessEffect(
          linkFile(name, path.join(unchanged.value.directory, name), directory),
          Effect.orElseSucceed(fileSystem.exists(path.join(directory, name)), () => false)
        ),
      { concurrency: 8, discard: true }
    )
    return Object.fromEntries(names.map((name) => [name, unchanged.value.files[name]?.sha256 ?? ""] as const))
  })

  return { documentsOf, linkFile, takeOverRest }
})

const isDocument = (name: string): boolean => name.endsWith(".json") && !name.includes("/")

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

export const notSaved = (document: string, detail: string, cause: Error) =>
  new MediaDocumentNotSaved({ document, detail, cause })
