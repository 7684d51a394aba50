/**
 * Why a table that was read is not on disk.
 */
import * as Schema from "effect/Schema"
import { OptionalErrorChain } from "../../../internal/SerializedError.ts"

/** What is in the table cannot be saved, or its file cannot be written. */
export class TableNotSaved extends Schema.TaggedError<TableNotSaved>()("vitrine/TableNotSaved", {
  table: Schema.String,
  /** What is wrong, where, and what would be right. */
  detail: Schema.String,
  cause: OptionalErrorChain
}) {
  override get message() {
    return `Table "${this.table}": ${this.detail}`
  }

  get isTransient(): boolean {
    return false
  }
}
