/**
 * The local table server as others see it: where it listens, what goes wrong on purpose, and why it could
 * not start.
 */
import type { AddressInfo } from "node:net"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ErrorChain } from "../../../src/internal/SerializedError.ts"

export class TableServer extends Context.Tag("vitrine/TableServer")<
  TableServer,
  {
    readonly address: AddressInfo

    /** Where attachments come from: another port, so another origin. */
    readonly attachmentAddress: AddressInfo

    /** What goes wrong on purpose. A request that is refused anyway, for its token or the limit, has no fault. */
    readonly faults: {
      /** Adds a fault, `"Objects 503 x2"` for example: the next two requests about that table have it. */
      readonly add: (fault: string) => Effect.Effect<void, InvalidFault>
      readonly clear: Effect.Effect<void>
    }

    /** The requests so far, faulty and refused ones included. */
    readonly requests: Effect.Effect<RequestCounts>
  }
>() {}

/** How many requests came since the start. */
export interface RequestCounts {
  /** By the name or id of the table in the request. */
  readonly tables: Readonly<Record<string, number>>
  readonly attachments: number
  /** Payloads of webhooks that were listed. */
  readonly payloads: number
  /** Webhooks that were listed, created, refreshed and removed. */
  readonly webhooks: number
  /** Tables and fields of a base that were listed. */
  readonly schema: number
  /** How many of them were too many in a second, or came in the penalty for that. */
  readonly rateLimited: number
}

/** The text is no fault. */
export class InvalidFault extends Schema.TaggedError<InvalidFault>()("vitrine/InvalidFault", {
  text: Schema.String,
  expected: Schema.String
}) {
  override get message() {
    return `expected ${this.expected}; got ${JSON.stringify(this.text)}`
  }
}

/** The folder of tables could not be listed. */
export class TableFolderError extends Schema.TaggedError<TableFolderError>()("vitrine/TableFolderError", {
  /** Absolute path. */
  directory: Schema.String,
  /** What the system said and, where it is known, what to do. */
  detail: Schema.String,
  cause: ErrorChain
}) {
  override get message() {
    return `Cannot read the folder of tables ${this.directory}: ${this.detail}`
  }
}
