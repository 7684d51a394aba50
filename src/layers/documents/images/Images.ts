/**
 * Makes smaller pictures of a picture, in the formats that pages want, with `sharp` in separate processes.
 *
 * It owns how one picture is converted. It does not know which files are pictures of a document, or where `sizes` go.
 */

import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { unfinishedFile } from "../../../files/durable.ts"
import { explain, retryHeldOpen } from "../../../files/systemError.ts"
import { excerpt } from "../../../internal/printable.ts"
import type { FetchTarget, SourceFile } from "../../../services/ContentSource.ts"
import { takeOver } from "../Document.ts"
import type { ImageFormat } from "../DocumentConfig.ts"
import { aspectRatio, type ImageOptions } from "../media/MediaOptions.ts"
import * as PictureWorkers from "./PictureWorkers.ts"
import { areaOf, type Cut, type Dimensions, keyOf, pathOf, sizesOf } from "./recipe.ts"

/** A file that may be a picture. */
export interface ImageFile extends Cut {
  /** Its path (absolute). */
  readonly file: string
  /** Its path in the folder of the source. */
  readonly localPath: string
  readonly sha256: string
  /** The decoder's warning about it in the last version, for pictures that are reused. */
  readonly warning?: string | undefined
}

/** A picture in a document, beside the `localPath` of the original. */
export interface Size extends Dimensions {
  /** Relative to the folder of the source; also a valid relative URL. */
  readonly localPath: string
  /** For example `image/webp`. */
  readonly type: `image/${ImageFormat}`
}

/** The pictures that were made or reused for a picture. */
export interface Derived {
  /**
   * In the order of the formats in the options, small pictures first. Empty for a file that is no picture, or is not
   * converted.
   */
  readonly sizes: ReadonlyArray<Size>
  /** By their paths. */
  readonly files: Readonly<Record<string, SourceFile>>
  /** The decoder's warning about a picture that it could read. */
  readonly warning: Option.Option<string>
}

export const nothing: Derived = { sizes: [], files: {}, warning: Option.none() }

/** The folder of one fetch. */
export interface ImageTarget extends Pick<FetchTarget, "directory" | "previous"> {
  readonly made: Made
}

/** Pictures that were made or are being made in a fetch, by path: a second request for a picture waits for it. */
export type Made = Map<string, SaveImage>

type SaveImage = Effect.Effect<SavedImage, PictureWorkers.PictureNotMade | PlatformError>

interface SavedImage {
  readonly file: SourceFile
  readonly warning: Option.Option<string>
}

const once = (made: Made, localPath: string, save: SaveImage): SaveImage =>
  Effect.flatMap(Effect.cached(save), (save) => {
    const known = made.get(localPath) ?? save
    made.set(localPath, known)
    return known
  })

/** Other names mean that the file is no picture, or is a drawing. */
const isNamedAsPicture = (localPath: string) =>
  /\.(avif|bmp|gif|hei[cf]|ico|jfif|jpe?g|png|tiff?|webp)$/i.test(localPath)

type Workers = Effect.Effect.Success<typeof PictureWorkers.make>

/** The pictures to make from a file; none if it is no picture, or is not converted. */
const jobsFor = Effect.fnUntraced(function* (
  workers: Workers,
  { crop, formats, quality, widths }: ImageOptions,
  input: ImageFile
) {
  const ratio = crop === undefined ? undefined : Option.getOrUndefined(aspectRatio(crop))
  const seen = yield* workers.look(input.file)
  if (seen.is === "unknown" && isNamedAsPicture(input.localPath)) {
    return yield* new PictureWorkers.PictureNotMade({
      detail: "it is no picture, or not of the kind in its name."
    })
  }
  if (seen.is !== "picture") return []
  const area = areaOf(seen, input, ratio)
  const key = keyOf({ sha256: input.sha256, area, versions: seen.versions, quality })
  const isWhole = area.width === seen.width && area.height === seen.height
  return sizesOf(area, { widths, formats }).map((output) => ({
    localPath: pathOf(key, output),
    job: { file: input.file, ...output, quality, area: isWhole ? undefined : area }
  }))
})

const encode = (
  workers: Workers,
  fileSystem: FileSystem.FileSystem,
  job: Omit<Parameters<Workers["make"]>[0], "to">,
  to: string
) => {
  const unfinished = unfinishedFile(to)
  return workers.make({ ...job, to: unfinished }).pipe(
    Effect.zipLeft(retryHeldOpen(fileSystem.rename(unfinished, to))),
    Effect.map(
      ({ bytes, sha256, warning }): SavedImage => ({
        file: { size: bytes, sha256 },
        warning: Option.map(Option.fromNullable(warning), excerpt)
      })
    ),
    Effect.onError(() => Effect.ignore(retryHeldOpen(fileSystem.remove(unfinished, { force: true }))))
  )
}

/** The pictures of earlier fetches that are in the folder. */
const makeKept = Effect.fnUntraced(function* (folder: Option.Option<string> = Option.none()) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const kept = new Map<string, SavedImage>()
  const inFolder = (localPath: string) =>
    Option.map(folder, (folder) => path.join(folder, path.basename(localPath)))

  const keep = (localPath: string, from: string, image: SavedImage) =>
    Effect.flatMap(inFolder(localPath), (to) =>
      fileSystem.makeDirectory(path.dirname(to), { recursive: true }).pipe(
        Effect.zipRight(fileSystem.remove(to, { force: true })),
        Effect.zipRight(fileSystem.link(from, to)),
        Effect.map(() => kept.set(localPath, image))
      )
    ).pipe(Effect.ignore)

  const take = Effect.fnUntraced(function* (localPath: string, to: string) {
    const image = yield* Option.fromNullable(kept.get(localPath))
    yield* fileSystem.link(yield* inFolder(localPath), to)
    return image
  })

  /** Keeps only the pictures of this fetch that the last version does not have. */
  const tidy = ({ made, previous }: ImageTarget) =>
    Effect.forEach(
      kept.keys(),
      (localPath) => {
        const isInVersion = Option.exists(previous, ({ files }) => Object.hasOwn(files, localPath))
        if (made.has(localPath) && !isInVersion) return Effect.void
        kept.delete(localPath)
        return Effect.ignore(Effect.flatMap(inFolder(localPath), fileSystem.remove))
      },
      { discard: true }
    )

  return { keep, take, tidy }
})

const takeBefore = Effect.fnUntraced(function* (
  target: ImageTarget,
  localPath: string,
  warning: ImageFile["warning"]
) {
  const file = yield* Effect.flatMap(target.previous, ({ files }) => Record.get(files, localPath))
  yield* takeOver(target, [localPath])
  return { file, warning: Option.fromNullable(warning) } satisfies SavedImage
})

/**
 * Makes pictures until the scope ends. `folder` keeps them for the next fetch of this process, because a fetch may be
 * refused after they are made. Default none.
 * A broken or empty picture is an error, and so is a picture that neither
 * `sharp` nor a browser can read, or a file that only has the name of a picture: a page would show a gap. A picture
 * that browsers show but `sharp` cannot convert has no sizes, and neither has any other file.
 *
 * `derive` gives the same result for the same input, and makes it only once in a fetch.
 */
export const make = Effect.fnUntraced(function* (options: ImageOptions, folder?: Option.Option<string>) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const workers = yield* PictureWorkers.make
  const kept = yield* makeKept(folder)

  const derive = Effect.fn("Images.derive")(
    function* (input: ImageFile, target: ImageTarget) {
      const { directory, made } = target
      const jobs = yield* jobsFor(workers, options, input)
      if (jobs.length === 0) return nothing
      yield* fileSystem.makeDirectory(path.join(directory, "images"), { recursive: true })
      const saved = yield* Effect.forEach(
        jobs,
        ({ job, localPath }) => {
          const to = path.join(directory, localPath)
          const save = takeBefore(target, localPath, input.warning).pipe(
            Effect.orElse(() => kept.take(localPath, to)),
            Effect.orElse(() =>
              Effect.tap(encode(workers, fileSystem, job, to), (image) => kept.keep(localPath, to, image))
            ),
            Effect.provideService(FileSystem.FileSystem, fileSystem)
          )
          return Effect.map(once(made, localPath, save), (saved) => ({ localPath, ...saved }))
        },
        { concurrency: "unbounded" }
      )
      return {
        sizes: jobs.map(({ job: { format, height, width }, localPath }) => ({
          localPath,
          width,
          height,
          type: `image/${format}` as const
        })),
        files: Object.fromEntries(saved.map(({ file, localPath }) => [localPath, file])),
        warning: Option.firstSomeOf(saved.map(({ warning }) => warning))
      } satisfies Derived
    },
    Effect.mapError((error) =>
      error._tag === "vitrine/PictureNotMade"
        ? error
        : new PictureWorkers.PictureNotMade({ detail: explain(error) })
    )
  )

  return { derive, tidy: kept.tidy }
})
