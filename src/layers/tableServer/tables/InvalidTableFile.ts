/**
 * What is wrong with a file of the folder of tables, for whoever edits it.
 */
import * as Schema from "effect/Schema"

export class InvalidTableFile extends Schema.TaggedError<InvalidTableFile>()("vitrine/InvalidTableFile", {
  /** Its name, without the folder. */
  file: Schema.String,
  /** Counted from 1, where it is known. */
  line: Schema.optional(Schema.Number),
  problem: Schema.String
}) {
  override get message() {
    return `${this.file}${this.line === undefined ? "" : `, line ${this.line}`}: ${this.problem}`
  }
}
