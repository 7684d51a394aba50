/**
 * The local table server as others see it: where it listens, and why it could not start.
 */
import type { AddressInfo } from "node:net"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"

export class TableServer extends Context.Tag("vitrine/TableServer")<
  TableServer,
  {
    readonly address: AddressInfo

    /** Where attachments come from: another port, so another origin. */
    readonly attachmentAddress: AddressInfo
  }
>() {}

/** The folder of tables could not be listed. */
export class TableFolderError extends Schema.TaggedError<TableFolderError>()("TableFolderError", {
  /** Absolute path. */
  directory: Schema.String,
  /** What the system said and, where it is known, what to do. */
  detail: Schema.String,
  cause: Schema.Defect
}) {
  override get message() {
    return `Cannot read the folder of tables ${this.directory}: ${this.detail}`
  }
}
