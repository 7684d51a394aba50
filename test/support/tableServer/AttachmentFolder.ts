/**
 * The files of the folder of tables that cells name as attachments.
 */
import { createHash } from "node:crypto"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import mime from "mime"
import * as FileCache from "./FileCache.ts"
import { InvalidTableFile } from "./FileCache.ts"
import { attachmentId } from "./identifiers.ts"

export interface AttachmentFile {
  /** A digest of the name and the content. */
  readonly id: string
  /** Absolute. */
  readonly path: string
  /** In bytes. */
  readonly size: number
  /** The media type, by the extension of the name. */
  readonly type: string
}

export interface AttachmentFolder {
  /** The file as it is now. It is named by its path in the folder, with forward slashes, and lies inside it. */
  readonly find: (file: string) => Effect.Effect<AttachmentFile, InvalidTableFile>
}

export const make = (
  directory: string
): Effect.Effect<AttachmentFolder, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem

    const files = yield* FileCache.make(directory, (file, place) =>
      Effect.gen(function* () {
        if ((yield* fs.stat(place)).type !== "File") {
          return yield* new InvalidTableFile({ file, problem: "is not a file." })
        }
        const hash = createHash("sha256")
        let size = 0
        yield* Stream.runForEach(fs.stream(place, { chunkSize: 1_048_576 }), (chunk) =>
          Effect.sync(() => {
            hash.update(chunk)
            size += chunk.length
          })
        )
        return {
          id: attachmentId(file, hash.digest("hex")),
          path: place,
          size,
          type: mime.getType(file) ?? "application/octet-stream"
        }
      })
    )

    return {
      find: (file) =>
        Option.match(mistakeIn(file), {
          onNone: () => files(file),
          onSome: (problem) => new InvalidTableFile({ file, problem })
        })
    }
  })

const mistakeIn = (file: string): Option.Option<string> => {
  if (/[\\\0]/.test(file) || file.split("/").some((segment) => ["", ".", ".."].includes(segment))) {
    return Option.some("must be a path inside the folder of tables, with forward slashes.")
  }
  return file.includes(":")
    ? Option.some('has a ":" in its name, which Windows does not allow. Rename the file.')
    : Option.none()
}
