/**
 * Why a table that was read, or the file of an attachment, is not on disk.
 */
import * as Schema from "effect/Schema"
import { excerpt } from "../../../internal/printable.ts"
import { OptionalErrorChain } from "../../../internal/SerializedError.ts"
import type { Attachment } from "../../../services/TableSourceClient.ts"

/** An attachment, and where it was seen first. */
export interface FoundAttachment extends Attachment {
  readonly table: string
  readonly recordId: string
  readonly field: string
  /** Where to save it, relative to the source's folder, with forward slashes. */
  readonly localPath: string
}

/** The file of an attachment cannot be had, or cannot be written. */
export class AttachmentNotSaved extends Schema.TaggedError<AttachmentNotSaved>()(
  "vitrine/AttachmentNotSaved",
  {
    table: Schema.String,
    recordId: Schema.String,
    field: Schema.String,
    filename: Schema.String,
    /** What happened. Links are signed: no more of one than its origin is in it. */
    detail: Schema.String,
    /** Whether another try may succeed later without anybody doing something. */
    isTransient: Schema.Boolean,
    cause: OptionalErrorChain
  }
) {
  override get message() {
    const [field, filename] = [this.field, this.filename].map((name) => JSON.stringify(excerpt(name)))
    return `Table "${this.table}", record ${excerpt(this.recordId)}, field ${field}: the file ${filename} cannot be saved: ${this.detail}`
  }
}

export const notSaved = (
  { field, filename, recordId, table }: FoundAttachment,
  { cause, detail, isTransient }: Pick<AttachmentNotSaved, "cause" | "detail" | "isTransient">
): AttachmentNotSaved =>
  new AttachmentNotSaved({ table, recordId, field, filename, detail, isTransient, cause })

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
