/**
 * Why an attachment is not on disk.
 */
import * as Schema from "effect/Schema"
import { oneLine } from "./HttpFailure.ts"

/** The file of an attachment cannot be had, or cannot be written. */
export class AttachmentNotSaved extends Schema.TaggedError<AttachmentNotSaved>()("AttachmentNotSaved", {
  table: Schema.String,
  recordId: Schema.String,
  field: Schema.String,
  filename: Schema.String,
  /** What happened. Links are signed: no more of one than its origin is in it. */
  detail: Schema.String,
  /** Whether another try may succeed later without anybody doing something. */
  isTransient: Schema.Boolean,
  cause: Schema.optional(Schema.Defect)
}) {
  override get message() {
    const [field, filename] = [this.field, this.filename].map((name) => JSON.stringify(oneLine(name)))
    return `Table "${this.table}", record ${oneLine(this.recordId)}, field ${field}: the file ${filename} cannot be saved: ${this.detail}`
  }
}
