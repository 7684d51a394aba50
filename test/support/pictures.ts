/**
 * Pictures, and folders in which sizes of them are made.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import sharp, { type Sharp } from "sharp"
import { sha256OfFile } from "../../src/files/sha256.ts"
import type { ImageConfig } from "../../src/layers/documents/DocumentConfig.ts"
import { type Derived, make } from "../../src/layers/documents/images/Images.ts"
import { ImageOptions } from "../../src/layers/documents/media/MediaOptions.ts"
import type { PreviousContent } from "../../src/services/ContentSource.ts"

/** As a source makes them of its options. */
export const makeImages = (config: ImageConfig, folder?: Option.Option<string>) =>
  make(Schema.decodeSync(ImageOptions)(config), folder)

/** A picture of one colour. */
export const plain = (width: number, height: number, background: string = "red"): Sharp =>
  sharp({ create: { width, height, channels: 3, background } })

/** With a blue square of a tenth of its width, whose middle is at the point (fractions). */
export const marked = (width: number, height: number, x: number, y: number): Sharp => {
  const side = Math.round(width / 10)
  return plain(width, height).composite([
    {
      input: { create: { width: side, height: side, channels: 3, background: "blue" } },
      left: Math.round(x * width - side / 2),
      top: Math.round(y * height - side / 2)
    }
  ])
}

/** Which no encoder finds easy. */
export const noisy = (width: number, height: number): Sharp =>
  sharp({
    create: {
      width,
      height,
      channels: 3,
      background: "grey",
      noise: { type: "gaussian", mean: 128, sigma: 30 }
    }
  })

/** The colour at a point (fractions), as red, green and blue. */
export const colourAt = async (file: string, x: number, y: number): Promise<ReadonlyArray<number>> => {
  const { data, info } = await sharp(file).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const at = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels
  return [...data.subarray(at, at + 3)]
}

export const isBlue = ([red = 0, , blue = 0]: ReadonlyArray<number>): boolean => blue > 150 && red < 100

/** As telephones make them: 64 by 48 pixels in HEVC, which `sharp` cannot read. */
export const heic = Buffer.from(
  "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAaptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAA" +
    "AAAAAA5waXRtAAAAAAACAAAAEGlkYXQAAAAAAEAAMAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHOAAEAAAAAAAAAHgACAAEA" +
    "AAAAAAAAAQAAAAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAA" +
    "AADVaXBycAAAALNpcGNvAAAAc2h2Y0MBA3AAAAAAAAAAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAe" +
    "ugJAIQABACdCAQEDcAAAAwCQAAADAAADAB6gIIEFlurkprmwIAAAAwAgAAADACEiAAEABkQBwXPAiQAAABRpc3BlAAAAAAAA" +
    "AEAAAABAAAAAFGlzcGUAAAAAAAAAQAAAADAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAAICA4QAAAAa" +
    "aXJlZgAAAAAAAAAOZGltZwACAAEAAQAAACZtZGF0AAAAGigBrxOA+BDhp//8TSj/+nXPD9PMe/OikM+A",
  "base64"
)

/** A folder of a source, with nothing in it. */
export const sourceFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped()
  return {
    directory,
    target: { directory, previous: Option.none<PreviousContent>(), made: new Map() },
    /** Saves a file, and says of it what a source knows. */
    save: Effect.fnUntraced(function* (localPath: string, bytes: Uint8Array) {
      const file = path.join(directory, localPath)
      yield* fs.makeDirectory(path.dirname(file), { recursive: true })
      yield* fs.writeFile(file, bytes)
      return { file, localPath, sha256: yield* sha256OfFile(file) }
    }),
    /** The names of what was made. */
    images: Effect.orElseSucceed(fs.readDirectory(path.join(directory, "images")), (): Array<string> => []),
    /** The record of the pictures made, for the next version. */
    asPrevious: ({ files }: Derived) =>
      Option.some<PreviousContent>({ directory, fingerprint: Option.none(), files })
  }
})
