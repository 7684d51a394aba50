/**
 * Why a folder cannot be read.
 */
import * as Schema from "effect/Schema"
import { isHeldOpen } from "../../../files/heldOpen.ts"
import { explain } from "../../../files/systemError.ts"
import { printableLine } from "../../../internal/printable.ts"
import { OptionalErrorChain } from "../../../internal/SerializedError.ts"
import { errorCode } from "../../../internal/serializeError.ts"
import { SourceError } from "../../../services/SourceError.ts"
import { placeText, type TextMistake } from "../../documents/textMistakes.ts"

/** Somebody is writing in the folder, or has a file of it open: a retry may succeed in seconds. */
export class FolderInUse extends Schema.TaggedError<FolderInUse>()("vitrine/FolderInUse", {
  /** The path of the file in the folder. */
  file: Schema.String,
  detail: Schema.String,
  cause: OptionalErrorChain
}) {
  readonly isTransient = true

  override get message() {
    return `${printablePath(this.file)}: ${this.detail}`
  }
}

/** The path of a file, for people. */
export const printablePath = (path: string): string => printableLine(path, 200)

export const stillWritten = (path: string): FolderInUse =>
  new FolderInUse({ file: path, detail: "it is still being written, or has just changed." })

/** Whether another program has the file open exclusively, or a network share has a short failure. */
export const isPassing = (cause: unknown): boolean =>
  isHeldOpen(cause) || ["EAGAIN", "EIO"].includes(errorCode(cause) ?? "")

/** For a file that could not be read. A missing file existed when the folder was read. */
export const unreadable =
  (path: string) =>
  (cause: Error): SourceError | FolderInUse =>
    errorCode(cause) === "ENOENT"
      ? stillWritten(path)
      : isPassing(cause)
        ? new FolderInUse({ file: path, detail: `cannot be read: ${explain(cause)}`, cause })
        : new SourceError({ place: printablePath(path), detail: `cannot be read: ${explain(cause)}`, cause })

/** For the people who edit the file. */
export const mistaken = (file: string, mistake: TextMistake): SourceError =>
  new SourceError({ place: placeText(file, mistake), detail: mistake.problem })
