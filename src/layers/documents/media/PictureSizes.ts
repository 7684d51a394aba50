/**
 * Makes smaller pictures of the pictures in documents: media, and files that the source itself has put beside
 * objects.
 */
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { FetchTarget, SourceFile } from "../../../services/ContentSource.ts"
import * as Images from "../images/Images.ts"
import { filesAtOnce } from "../progress.ts"
import { type FileProblem, problemAt, sourceErrorOf } from "./FileProblem.ts"
import type { FoundMedia, FoundPicture } from "./findMedia.ts"
import type { ImageOptions } from "./MediaOptions.ts"

/** The pictures that were made. */
export interface Pictures {
  /** By their paths in the folder of the source. */
  readonly files: Readonly<Record<string, SourceFile>>
  /** The sizes of pictures, by the keys of the pictures. */
  readonly sizes: ReadonlyMap<string, ReadonlyArray<Images.Size>>
  /** Why optional pictures have no sizes, and the warnings about pictures that were converted. */
  readonly problems: ReadonlyArray<FileProblem>
}

/** Files in the folder of the source, by their identities. */
export type PlacedFiles = ReadonlyMap<string, { readonly localPath: string; readonly sha256: string }>

export const make = Effect.fnUntraced(function* (options: ImageOptions) {
  const path = yield* Path.Path
  const images = yield* Images.make(options)

  return Effect.fnUntraced(function* (
    pictures: FoundMedia["pictures"],
    files: PlacedFiles,
    { directory, previous }: Pick<FetchTarget, "directory" | "previous">
  ) {
    const target = { directory, previous, made: yield* Images.nothingMade }

    const derive = ([key, picture]: readonly [string, FoundPicture]) => {
      const { cut, isOptional, place } = picture
      const file = files.get(picture.identity)
      if (file === undefined) {
        return Effect.succeed({ key, derived: Images.nothing, problems: absent(picture) })
      }
      const about = { file: file.localPath }
      return images.derive({ ...cut, ...file, file: path.join(directory, file.localPath) }, target).pipe(
        Effect.map((derived) => ({
          key,
          derived,
          problems: Option.toArray(derived.warning).map((detail) =>
            problemAt(place, { ...about, wrong: "picture", detail })
          )
        })),
        Effect.catchAll(({ detail }) => {
          const problem = problemAt(place, { ...about, wrong: "sizes", detail })
          return isOptional
            ? Effect.succeed({ key, derived: Images.nothing, problems: [problem] })
            : sourceErrorOf(problem)
        })
      )
    }

    const all = yield* Effect.forEach(pictures, derive, { concurrency: filesAtOnce })
    return {
      files: Object.fromEntries(all.flatMap(({ derived }) => Object.entries(derived.files))),
      sizes: new Map(
        all.flatMap(({ derived: { sizes }, key }) => (sizes.length === 0 ? [] : [[key, sizes] as const]))
      ),
      problems: all.flatMap(({ problems }) => problems)
    } satisfies Pictures
  })
})

/** A missing linked file is optional; a missing file of the source itself is a problem. */
const absent = ({ ownPath, place }: FoundPicture): ReadonlyArray<FileProblem> =>
  ownPath === undefined
    ? []
    : [problemAt(place, { wrong: "sizes", file: ownPath, detail: "the source has no such file." })]
