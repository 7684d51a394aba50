/**
 * Why a folder cannot be read.
 */
import * as Schema from "effect/Schema"
import { placeText, type TextMistake } from "../../../internal/editedText.ts"
import { OptionalErrorChain } from "../../../internal/SerializedError.ts"

/** A folder, or a file of it, cannot become part of a version. */
export class FolderFailed extends Schema.TaggedError<FolderFailed>()("vitrine/FolderFailed", {
  /** Of the folder: its absolute path. Of a file: its path in the folder, and the line and column where they are known. */
  place: Schema.String,
  /** What is wrong, and what would be right. */
  detail: Schema.String,
  /** Whether another try may succeed later without anybody doing something. */
  isTransient: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  cause: OptionalErrorChain
}) {
  override get message() {
    return `${this.place}: ${this.detail}`
  }
}

/** A file that somebody writes just now. */
export class StillWritten extends Schema.TaggedError<StillWritten>()("vitrine/StillWritten", {
  /** Its path in the folder. */
  file: Schema.String
}) {
  readonly isTransient = true

  override get message() {
    return `${this.file}: it is still being written, or has just changed.`
  }
}

/** For the people who edit the file. */
export const mistaken = (file: string, mistake: TextMistake): FolderFailed =>
  new FolderFailed({ place: placeText(file, mistake), detail: mistake.problem })
