/**
 * Files of a folder, by the way that their path says and no other.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { errorCode } from "../../internal/systemError.ts"

export interface PlainFile {
  readonly type: "File" | "Directory"
  /** Its absolute path. */
  readonly file: string
  readonly size: number
  /** Differs once it was replaced or written to. */
  readonly stamp: string
}

/** The path without links in it; none where it leads nowhere. */
export const realPath = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.realPath(path)).pipe(orNone)

/**
 * A file or folder below the root, in whose path no name is a link, or another name of it (the short names of Windows,
 * other case); none where there is no such file.
 */
export const plainFile = Effect.fnUntraced(function* (
  /** Without links in its path. */
  root: string,
  names: ReadonlyArray<string>
): Effect.fn.Return<Option.Option<PlainFile>, PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(root, ...names)
  const real = yield* realPath(file)
  if (!Option.exists(real, (real) => real.normalize() === file.normalize())) {
    return Option.none()
  }
  return Option.flatMap(yield* orNone(fs.stat(file)), ({ ino, mtime, size, type }) =>
    type === "File" || type === "Directory"
      ? Option.some({
          type,
          file,
          size: Number(size),
          stamp: `${Option.getOrUndefined(ino)} ${Option.getOrUndefined(mtime)?.getTime()} ${size}`
        })
      : Option.none()
  )
})

/** What leads nowhere is not there, and no error. */
const orNone = <A, R>(
  effect: Effect.Effect<A, PlatformError, R>
): Effect.Effect<Option.Option<A>, PlatformError, R> =>
  Effect.catchIf(
    Effect.asSome(effect),
    (error) => leadingNowhere.has(errorCode(error) ?? ""),
    () => Effect.succeedNone
  )

const leadingNowhere = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP", "EINVAL"])
