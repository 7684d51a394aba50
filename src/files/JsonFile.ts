/**
 * Lists that survive a restart and a power failure, each as JSON in its own file.
 */
import { basename, dirname } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { partsOf } from "../internal/nextTurn.ts"
import { issueText, placedIssues } from "../internal/Options.ts"
import { messageOf } from "../internal/SerializedError.ts"
import { errorCode } from "../internal/serializeError.ts"
import { makeWarnWhile } from "../internal/warnOnce.ts"
import { removeUnfinished, replaceFile } from "./durable.ts"
import { readPlainText } from "./readPlainText.ts"
import { move, retryHeldOpen } from "./systemError.ts"

export interface JsonFile<A> {
  /**
   * Empty if there is no file. Empty with a warning if the file cannot be used; it is moved to `<file>.unread` before
   * the first write. Removes unfinished files of killed processes.
   */
  readonly read: Effect.Effect<ReadonlyArray<A>>
  /** Replaces the whole file. Returns whether this worked; the first failure in a row is a warning. */
  readonly write: (all: ReadonlyArray<A>) => Effect.Effect<boolean>
}

export interface Meaning {
  /** The consequence if the file cannot be read: `nothing is muted`. */
  readonly read: string
  /** The consequence if the file cannot be written. */
  readonly written: string
  /** The largest file that is read, in bytes. Default 1 MiB. */
  readonly maxBytes?: number
}

/** How many items are encoded between two turns of the event loop. */
const batch = 64

/** Only one process may use the file at a time. Without a file, the list is lost with the process. */
export const make = Effect.fnUntraced(function* <A, I>(
  file: string | undefined,
  item: Schema.Schema<A, I>,
  { maxBytes, read, written }: Meaning
): Effect.fn.Return<JsonFile<A>, never, FileSystem.FileSystem> {
  if (file === undefined) {
    return { read: Effect.succeed([]), write: () => Effect.succeed(true) }
  }
  const fs = yield* FileSystem.FileSystem
  const decode = Schema.decode(Schema.parseJson(Schema.Array(item)))
  const encode = Schema.encode(Schema.parseJson(item))
  /** The list on disk could not be used, and must not be overwritten. */
  const isUnread = yield* Ref.make(false)
  const unread = `${file}.unread`
  const writing = makeWarnWhile((reason) => `${file} cannot be written, and ${written}: ${reason}`)

  const keepUnread = Effect.zipRight(
    Effect.catchIf(
      move(file, unread),
      (error) => errorCode(error) === "ENOENT",
      () => Effect.void
    ),
    Ref.set(isUnread, false)
  )

  const textOf = (all: ReadonlyArray<A>) =>
    Effect.forEach(partsOf(all, batch), (part) =>
      Effect.zipLeft(
        Effect.forEach(part, (item) => encode(item)),
        Effect.yieldNow()
      )
    ).pipe(Effect.map((parts) => `[${parts.flat().join(",\n")}]\n`))

  return {
    read: Effect.ignore(Effect.tryPromise(() => removeUnfinished(dirname(file), basename(file)))).pipe(
      Effect.zipRight(retryHeldOpen(readPlainText(file, maxBytes))),
      Effect.flatMap((text) =>
        Effect.mapError(decode(text), (error) => new Error(issueText(placedIssues(error))))
      ),
      Effect.catchAll((error) =>
        errorCode(error) === "ENOENT"
          ? Effect.succeed([])
          : Ref.set(isUnread, true).pipe(
              Effect.zipRight(
                Effect.logWarning(
                  `${file} cannot be read, and ${read}: ${messageOf(error)}. Before it is written again, it is kept as ${unread}`
                )
              ),
              Effect.as([])
            )
      )
    ),
    write: (all) =>
      textOf(all).pipe(
        Effect.tap(() => Effect.whenEffect(keepUnread, Ref.get(isUnread))),
        Effect.flatMap((text) => replaceFile(file, text, { mode: 0o600 })),
        Effect.zipRight(Effect.as(writing.works, true)),
        Effect.catchAll((error) => Effect.as(writing.fails(messageOf(error)), false)),
        Effect.provideService(FileSystem.FileSystem, fs)
      )
  }
})
