/**
 * Files of a folder, by the way that their path says and no other.
 */
import { realpath, stat } from "node:fs/promises"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { errorCode } from "../../internal/systemError.ts"
import { Unreadable } from "../http/errors.ts"

export interface PlainFile {
  readonly type: "File" | "Directory"
  /** Its absolute path. */
  readonly file: string
  readonly size: number
  /** Differs once it was replaced or written to. */
  readonly stamp: string
}

/**
 * The path as the system has it, without links, and on Windows without short names; `None` if it leads nowhere.
 * (That of the platform looks at each name of the path in turn, and keeps short names.)
 */
export const realPath = (path: string) => orNone(() => realpath(path))

/**
 * A file or folder below the root, in whose path no name is a link, or another name of it (the short names of Windows,
 * other case); `None` if there is no such file.
 */
export const plainFile = Effect.fnUntraced(function* (
  /** A `realPath`. */
  root: string,
  names: ReadonlyArray<string>
): Effect.fn.Return<Option.Option<PlainFile>, Unreadable, Path.Path> {
  const path = yield* Path.Path
  const file = path.join(root, ...names)
  const real = yield* realPath(file)
  if (!Option.exists(real, (real) => real.normalize() === file.normalize())) {
    return Option.none()
  }
  return Option.flatMap(yield* orNone(() => stat(file)), (stats) => {
    const type = stats.isFile() ? "File" : stats.isDirectory() ? "Directory" : undefined
    const { ino, mtimeMs, size } = stats
    return type === undefined
      ? Option.none()
      : Option.some({ type, file, size, stamp: `${ino} ${mtimeMs} ${size}` })
  })
})

/** What leads nowhere is not there, and no error. */
const orNone = <A>(run: () => Promise<A>): Effect.Effect<Option.Option<A>, Unreadable> =>
  Effect.tryPromise({ try: run, catch: (cause) => new Unreadable({ cause }) }).pipe(
    Effect.asSome,
    Effect.catchIf(
      (error) => leadingNowhere.has(errorCode(error) ?? ""),
      () => Effect.succeedNone
    )
  )

const leadingNowhere = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP", "EINVAL"])
