/**
 * Lists that are there after a restart, as JSON in a file.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { replaceFile } from "../../internal/durable.ts"
import { readPlainText } from "../../internal/readPlainText.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { errorCode } from "../../internal/systemError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"

export interface KeptFile<A> {
  /** Empty where there is no file, or one that cannot be used: that is a warning. */
  readonly read: Effect.Effect<ReadonlyArray<A>>
  /** Replaces the file as a whole, and gives whether that could be done; the first failure in a row is a warning. */
  readonly write: (all: ReadonlyArray<A>) => Effect.Effect<boolean>
}

/** Without a file, the list is lost with the controller. `otherwise` is what a file means that cannot be read or written. */
export const make = Effect.fnUntraced(function* <A, I>(
  file: string | undefined,
  item: Schema.Schema<A, I>,
  otherwise: { readonly read: string; readonly written: string }
): Effect.fn.Return<KeptFile<A>, never, FileSystem.FileSystem | Path.Path> {
  if (file === undefined) {
    return { read: Effect.succeed([]), write: () => Effect.succeed(true) }
  }
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const content = Schema.parseJson(Schema.Array(item), { space: 2 })
  const writing = makeWarnWhile((reason) => `${file} cannot be written, and ${otherwise.written}: ${reason}`)
  return {
    read: readPlainText(file).pipe(
      Effect.flatMap(Schema.decode(content)),
      Effect.catchAll((error) =>
        errorCode(error) === "ENOENT"
          ? Effect.succeed([])
          : Effect.as(
              Effect.logWarning(`${file} cannot be read, and ${otherwise.read}: ${messageOf(error)}`),
              []
            )
      )
    ),
    write: (all) =>
      Schema.encode(content)(all).pipe(
        Effect.flatMap((text) => replaceFile(file, `${text}\n`, { mode: 0o600 })),
        Effect.zipRight(Effect.as(writing.works, true)),
        Effect.catchAll((error) => Effect.as(writing.fails(messageOf(error)), false)),
        Effect.provide(platform)
      )
  }
})
