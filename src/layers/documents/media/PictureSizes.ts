/**
 * Smaller pictures of those that documents show: media, and files that the source itself has put beside objects.
 */
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type { FetchTarget, SourceFile } from "../../../services/ContentSource.ts"
import { filesAtOnce } from "../../httpClient/downloadCounter.ts"
import type { ImageOptions } from "../images/ImageOptions.ts"
import * as Images from "../images/Images.ts"
import { notShown } from "../images/pictureFormat.ts"
import { PictureFlawed, SizesNotMade, warningsOf } from "./errors.ts"
import { type FoundMedia, type OwnFile, pictureKey } from "./findMedia.ts"
import type { MediaFile } from "./MediaFiles.ts"
import { format } from "./PathPattern.ts"
import type { FoundLink, Sizes } from "./placeMedia.ts"

/** What was made of all pictures. */
export interface Pictures {
  /** By their paths in the folder of the source. */
  readonly files: Readonly<Record<string, SourceFile>>
  /** The sizes of a linked file; `None` if it has none. */
  readonly sizesOf: (found: FoundLink) => Option.Option<Sizes>
  /** The sizes of one of the source's own files. */
  readonly sizesOfOwn: (localPath: string) => Option.Option<Sizes>
  /** Why pictures have no sizes that may be missing, and what is wrong with others that could be made smaller. */
  readonly warnings: ReadonlyArray<string>
}

/** What was found in documents, and is in the folder of the source. */
export interface PictureFiles extends Pick<FoundMedia, "ownFiles" | "pictures"> {
  /** By their identities. */
  readonly media: ReadonlyMap<string, MediaFile>
  /** Those of files of the source itself. */
  readonly digests: Readonly<Record<string, string>>
}

/** What sizes are made of. */
interface Picture extends OwnFile {
  /** Different for each picture, and for each cut of it. */
  readonly key: string
  readonly image: Omit<Images.ImageFile, "file">
}

/** Makes no pictures without `options`, and warns of those that no browser shows. */
export const make = Effect.fnUntraced(function* (
  options: ImageOptions | undefined,
  hide: (text: string) => string
) {
  const path = yield* Path.Path
  const images = yield* Effect.transposeMapOption(Option.fromNullable(options), Images.make)

  return Effect.fnUntraced(function* (
    files: PictureFiles,
    { directory, previous }: Pick<FetchTarget, "directory" | "previous">
  ) {
    if (Option.isNone(images)) return { ...noPictures, warnings: warningsOf(unseenOf(files)) }
    const target = { directory, previous, made: yield* Images.nothingMade }

    const derive = ({ image, isOptional, key, place: { document, path: field, record } }: Picture) => {
      const place = {
        document,
        record: record && hide(record),
        field: hide(format(field)),
        localPath: hide(image.localPath)
      }
      return images.value.derive({ ...image, file: path.join(directory, image.localPath) }, target).pipe(
        Effect.map((derived) =>
          Either.right({
            key,
            derived,
            flaw: Option.map(derived.warning, (detail) => new PictureFlawed({ ...place, detail }))
          })
        ),
        Effect.catchAll(({ detail }) => {
          const error = new SizesNotMade({ ...place, detail })
          return isOptional ? Effect.succeed(Either.left(error)) : Effect.fail(error)
        })
      )
    }

    const [errors, made] = Array.separate(
      yield* Effect.forEach(picturesOf(files), derive, { concurrency: filesAtOnce })
    )
    const absent = Array.filterMap(files.ownFiles, ([localPath, { place }]) =>
      Record.has(files.digests, localPath)
        ? Option.none()
        : Option.some(
            new SizesNotMade({
              document: place.document,
              record: place.record,
              field: format(place.path),
              localPath,
              detail: "the source has no such file."
            })
          )
    )
    const sizes = new Map(made.map(({ derived, key }) => [key, derived.sizes]))
    const sizesOf = (key: string) =>
      Option.filter(Option.fromNullable(sizes.get(key)), (sizes) => sizes.length > 0)
    return {
      files: Object.fromEntries(made.flatMap(({ derived }) => Object.entries(derived.files))),
      sizesOf: (found) => sizesOf(pictureKey(found.identity, found)),
      sizesOfOwn: (localPath) => sizesOf(ownKey(localPath)),
      warnings: warningsOf([...errors, ...absent, ...Array.getSomes(made.map(({ flaw }) => flaw))])
    } satisfies Pictures
  })
})

const noPictures: Pictures = { files: {}, sizesOf: Option.none, sizesOfOwn: Option.none, warnings: [] }

/** Pictures among the files that no browser shows. */
const unseenOf = ({ media }: PictureFiles): ReadonlyArray<PictureFlawed> =>
  Array.filterMap([...media.values()], ({ entry, format: kind, wanted: { place } }) =>
    Option.map(Option.flatMapNullable(kind, notShown), (detail) => {
      const { document, path, record } = place
      return new PictureFlawed({ document, record, field: format(path), localPath: entry.path, detail })
    })
  )

const picturesOf = ({ digests, media, ownFiles, pictures }: PictureFiles): ReadonlyArray<Picture> => [
  ...Array.filterMap(pictures, ([key, { cut, identity }]) =>
    Option.map(Option.fromNullable(media.get(identity)), ({ entry, sha256, wanted }) => ({
      key,
      image: { ...cut, localPath: entry.path, sha256 },
      place: wanted.place,
      isOptional: wanted.isOptional
    }))
  ),
  ...Array.filterMap(ownFiles, ([localPath, place]) =>
    Option.map(Record.get(digests, localPath), (sha256) => ({
      ...place,
      key: ownKey(localPath),
      image: { localPath, sha256 }
    }))
  )
]

/** The key of one of the source's own files, distinct from keys of media. */
const ownKey = (localPath: string): string => `./${localPath}`
