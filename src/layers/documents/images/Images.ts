/**
 * Smaller pictures of a picture, in the formats that pages want, with `sharp` in their own processes.
 *
 * It owns how one picture is derived. Which files are pictures that a document shows, and where `sizes` go, is not known here.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import { retryHeldOpen } from "../../../files/heldOpen.ts"
import { linkOrCopy } from "../../../files/reuseFile.ts"
import { explain } from "../../../files/systemError.ts"
import { excerpt } from "../../../internal/printable.ts"
import type { FetchTarget, PreviousContent, SourceFile } from "../../../services/ContentSource.ts"
import { aspectRatio, type ImageOptions } from "../media/MediaOptions.ts"
import type { ImageFormat } from "./ImageConfig.ts"
import * as PictureWorkers from "./PictureWorkers.ts"
import { areaOf, type Cut, type Dimensions, keyOf, pathOf, sizesOf } from "./recipe.ts"

/** A file that may be a picture. */
export interface ImageFile extends Cut {
  /** Where it is (absolute path). */
  readonly file: string
  /** Its path in the folder of the source. */
  readonly localPath: string
  readonly sha256: string
}

/** A picture as it stands in a document, beside the `localPath` of what it is made of. */
export interface Size extends Dimensions {
  /** Relative to the folder of the source; as it stands a relative URL as well. */
  readonly localPath: string
  /** `image/webp` for example. */
  readonly type: `image/${ImageFormat}`
}

/** What was made of a picture, or taken over. */
export interface Derived {
  /** In the order of the formats in the options, small ones first. Empty for what is no picture, or is left alone. */
  readonly sizes: ReadonlyArray<Size>
  /** By their paths. */
  readonly files: Readonly<Record<string, SourceFile>>
  /** What the decoder says of a picture that it could read nevertheless. */
  readonly warning: Option.Option<string>
}

export const nothing: Derived = { sizes: [], files: {}, warning: Option.none() }

/** The folder of one fetch. */
export interface ImageTarget extends Pick<FetchTarget, "directory" | "previous"> {
  readonly made: Made
}

/** Pictures made or being made in a fetch, by path: a second request for one waits for it. */
export type Made = Ref.Ref<HashMap.HashMap<string, SaveImage>>

type SaveImage = Effect.Effect<SavedImage, PictureWorkers.PictureNotMade | PlatformError>

interface SavedImage {
  readonly file: SourceFile
  readonly warning: Option.Option<string>
}

export const nothingMade: Effect.Effect<Made> = Ref.make(HashMap.empty())

const once = (made: Made, localPath: string, save: SaveImage): SaveImage =>
  Effect.flatMap(Effect.cached(save), (save) =>
    Effect.flatten(
      Ref.modify(made, (known) =>
        Option.match(HashMap.get(known, localPath), {
          onNone: () => [save, HashMap.set(known, localPath, save)],
          onSome: (earlier) => [earlier, known]
        })
      )
    )
  )

/** Names of what is no picture at all, or a drawing, are others. */
const isNamedAsPicture = (localPath: string) =>
  /\.(avif|bmp|gif|hei[cf]|ico|jfif|jpe?g|png|tiff?|webp)$/i.test(localPath)

/**
 * Makes pictures as long as the scope lasts. A broken or empty picture is an error, and so is one that neither `sharp` nor a browser
 * reads, and a file that is none though it is called so: a page would show a gap. What browsers show and `sharp` cannot make smaller,
 * and any other file, has no sizes.
 *
 * `derive` makes the same whenever it is given the same, in a fetch only once.
 */
export const make = Effect.fnUntraced(function* ({ crop, formats, quality, widths }: ImageOptions) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const workers = yield* PictureWorkers.make
  const ratio = crop === undefined ? undefined : Option.getOrUndefined(aspectRatio(crop))
  const encoding = quality === undefined ? {} : { quality }

  /** What is to be made of a file; nothing where it is no picture, or left alone. */
  const jobsFor = Effect.fnUntraced(function* (input: ImageFile) {
    const seen = yield* workers.look(input.file)
    if (seen.is === "unknown" && isNamedAsPicture(input.localPath)) {
      return yield* new PictureWorkers.PictureNotMade({
        detail: "it is no picture, or none of the kind that its name says."
      })
    }
    if (seen.is !== "picture") return []
    const area = areaOf(seen, input, ratio)
    const key = keyOf({ sha256: input.sha256, area, versions: seen.versions, ...encoding })
    const isWhole = area.width === seen.width && area.height === seen.height
    return sizesOf(area, { widths, formats }).map((output) => ({
      localPath: pathOf(key, output),
      job: { file: input.file, ...output, ...encoding, ...(isWhole ? {} : { area }) }
    }))
  })

  const encode = (job: Omit<Parameters<typeof workers.make>[0], "to">, to: string) => {
    const unfinished = `${to}.unfinished`
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

  /** What the version before has, of the same path. */
  const takeOver = ({ directory, files }: PreviousContent, localPath: string, to: string) =>
    Record.get(files, localPath).pipe(
      Effect.tap(linkOrCopy(path.join(directory, localPath), to)),
      Effect.map((file): SavedImage => ({ file, warning: Option.none() })),
      Effect.provideService(FileSystem.FileSystem, fileSystem)
    )

  const derive = Effect.fn("Images.derive")(
    function* (input: ImageFile, { directory, made, previous }: ImageTarget) {
      const jobs = yield* jobsFor(input)
      if (jobs.length === 0) return nothing
      yield* fileSystem.makeDirectory(path.join(directory, "images"), { recursive: true })
      const saved = yield* Effect.forEach(
        jobs,
        ({ job, localPath }) => {
          const to = path.join(directory, localPath)
          const save = Effect.flatMap(previous, (previous) => takeOver(previous, localPath, to)).pipe(
            Effect.catchAll(() => encode(job, to))
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

  return { derive }
})
