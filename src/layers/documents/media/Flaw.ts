/**
 * The flaw of a file that is saved all the same. It is found when the file is downloaded, or when its pictures are
 * made, and kept in the index of the version: each fetch warns about it, and opens no file for this.
 */
import { extname } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { SourceFile } from "../../../services/ContentSource.ts"
import { notShown, type PictureFormat } from "../images/pictureFormat.ts"
import { adviceOnOthers, mayNameOthers } from "./mediaTypes.ts"

export const Flaw = Schema.Struct({
  /**
   * `picture`: no browser displays it, or its decoder warns. `others`: it names files that are not saved. `sizes`: no
   * smaller pictures can be made of it, and it is optional.
   */
  wrong: Schema.Literal("picture", "others", "sizes"),
  /** As in the warning. */
  detail: Schema.String
})
export type Flaw = typeof Flaw.Type

/** The flaw of a downloaded file, if it has a flaw. Files larger than `maxText` are not read. */
export const flawOf = Effect.fnUntraced(function* (
  file: string,
  { size }: Pick<SourceFile, "size">,
  format: PictureFormat | undefined
): Effect.fn.Return<Flaw | undefined, never, FileSystem.FileSystem> {
  const detail = format && notShown(format)
  if (detail !== undefined) return { wrong: "picture", detail }
  const extension = extname(file).slice(1).toLowerCase()
  if (!mayNameOthers(extension) || size > maxText) return undefined
  const fileSystem = yield* FileSystem.FileSystem
  const text = yield* Effect.orElseSucceed(fileSystem.readFileString(file), () => "")
  const advice = adviceOnOthers(extension, text)
  return advice === undefined
    ? undefined
    : {
        wrong: "others",
        detail: `the other files are not saved, so it does not play offline. ${advice}, or save the files together with folderSource.`
      }
})

/** In bytes. */
const maxText = 16 * 1024 ** 2
