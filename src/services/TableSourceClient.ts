/**
 * A client of one hosted base of tables: lists a table's records page by page, and reads single records.
 *
 * It owns authentication, pacing, retries, the decoding of responses, and the format of attachments. The table source
 * reads a table to its end and turns its records into content.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { OptionalErrorChain } from "../internal/SerializedError.ts"

/**
 * A record as in the response of the API.
 *
 * @since 0.1.0
 * @category models
 */
export interface TableRecord {
  readonly id: string
  /** Cells by field name. Empty cells are left out. */
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * Which page of which table to read.
 *
 * @since 0.1.0
 * @category models
 */
export interface PageRequest {
  /** Name or id of the table. */
  readonly table: string
  /** Name or id of the view that filters and orders; `null` for the whole table. */
  readonly view: string | null
  /** Names of the wanted fields; absent for all. */
  readonly fields?: ReadonlyArray<string> | undefined
  /** The `next` of the page before; absent for the first page. */
  readonly cursor?: string | undefined
}

/**
 * Some records of a table, in its order.
 *
 * @since 0.1.0
 * @category models
 */
export interface Page {
  readonly records: ReadonlyArray<TableRecord>
  /** Where the next page begins; absent on the last page. */
  readonly next?: string | undefined
}

/**
 * Which record of which table to read.
 *
 * @since 0.1.0
 * @category models
 */
export interface RecordRequest {
  /** Name or id of the table. */
  readonly table: string
  readonly recordId: string
}

/**
 * A file that is attached to a record.
 *
 * @since 0.1.0
 * @category models
 */
export interface Attachment {
  readonly id: string
  /** May expire. */
  readonly url: string
  readonly filename: string
  /** In bytes, if it is known. */
  readonly size: Option.Option<number>
}

/**
 * The format of attachments: objects that are items of an array, anywhere in a cell.
 *
 * @since 0.1.0
 * @category models
 */
export interface AttachmentFormat {
  /** Reads an object in an array; `None` if it is no attachment. */
  readonly read: (item: Readonly<Record<string, unknown>>) => Option.Option<Attachment>
  /** The fields that are part of the content. Other fields, such as links, may change while the content does not. */
  readonly lastingFields: ReadonlySet<string>
  /** The fields of an attachment that pages may rely on, for their types. Default none. */
  readonly fields?: Readonly<Record<string, Schema.Schema.AnyNoContext>> | undefined
}

/**
 * A client of hosted tables, of any vendor. It keeps to the vendor's pace, and retries transient failures.
 *
 * @since 0.1.0
 * @category tags
 */
export class TableSourceClient extends Context.Tag("vitrine/TableSourceClient")<
  TableSourceClient,
  {
    /**
     * Reads one page.
     *
     * It ends within a bounded time, retries included. `CursorExpired` means that the list must be read again from
     * its beginning. If there is no such table, view or field, the message names it.
     */
    readonly listPage: (request: PageRequest) => Effect.Effect<Page, TableError | CursorExpired>

    /**
     * Reads one record in its current state, with fresh links of its attachments. It also ends within a bounded time.
     * If there is no such table or record, the message names it, the record by its id.
     */
    readonly readRecord: (request: RecordRequest) => Effect.Effect<TableRecord, TableError>

    /** Absent if cells have no attachments. */
    readonly attachments?: AttachmentFormat | undefined

    /** Absent if the client cannot be asked for changes, or should not be. */
    readonly changes?: ChangeFeed | undefined

    /** How many requests it has sent, retries included. Absent if they are not counted. */
    readonly calls?: Effect.Effect<CallCounts> | undefined
  }
>() {}

/**
 * Tells cheaply whether anything in the base has changed.
 *
 * @since 0.1.0
 * @category models
 */
export interface ChangeFeed {
  /**
   * Whether anything has changed since the position of an earlier call; without a position, everything. It ends
   * within a bounded time, with a bounded number of requests.
   */
  readonly since: (position: Option.Option<string>) => Effect.Effect<TableChanges, TableError>

  /** Ends the list of changes that a position belongs to: at its start, a controller ends the list of its last run. */
  readonly end: (position: string) => Effect.Effect<void, TableError>
}

/**
 * Whether anything has changed in a base since a position.
 *
 * @since 0.1.0
 * @category models
 */
export interface TableChanges {
  /** Where the next call begins. Records read from now on include every earlier change. */
  readonly position: string
  readonly changed: "nothing" | "everything"
}

/**
 * Counts of this day and this month, in UTC, and of all since the client was made.
 *
 * @since 0.1.0
 * @category models
 */
export interface CallCounts {
  readonly today: number
  readonly month: number
  readonly total: number
}

/**
 * Why a table could not be read.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TableErrorReason = Schema.Literal(
  /** The server could not be reached, or the connection broke. */
  "Unreachable",
  /** No complete response within the time allowed for one request. */
  "Timeout",
  /** The credential was refused. */
  "Unauthorized",
  /** There is no such base, table, view or record, or the credential may not read it. */
  "NotFound",
  /** The request was refused for another reason. */
  "Refused",
  /** Too many requests, or a spent quota. */
  "RateLimited",
  /** The server failed. */
  "ServerError",
  /** The response is not a response of this API. */
  "UnexpectedAnswer"
)

/**
 * A request about a table was given up, for this reason.
 *
 * @since 0.1.0
 * @category errors
 */
export class TableError extends Schema.TaggedError<TableError>()("vitrine/TableError", {
  /** Empty for an error of the base as a whole. */
  table: Schema.String,
  reason: TableErrorReason,
  /** What happened and, if it is known, what to do; the text of the server included. */
  detail: Schema.String,
  /** HTTP status, if there was a response. */
  status: Schema.optional(Schema.Number),
  /**
   * Set if the failure stays until somebody does something, though its reason is usually transient: for example, a
   * spent quota.
   */
  isLasting: Schema.optional(Schema.Boolean),
  cause: OptionalErrorChain
}) {
  override get message() {
    return this.table === "" ? `The base: ${this.detail}` : `Table "${this.table}": ${this.detail}`
  }

  /** Whether the same request may succeed later without anybody doing something. */
  get isTransient(): boolean {
    return this.isLasting !== true && passing.has(this.reason)
  }
}

const passing: ReadonlySet<typeof TableErrorReason.Type> = new Set([
  "Unreachable",
  "Timeout",
  "RateLimited",
  "ServerError"
])

/**
 * The server no longer knows the cursor: read the list again from its beginning.
 *
 * @since 0.1.0
 * @category errors
 */
export class CursorExpired extends Schema.TaggedError<CursorExpired>()("vitrine/CursorExpired", {
  table: Schema.String
}) {
  override get message() {
    return `Table "${this.table}": the server no longer knows the list that was being read.`
  }

  get isTransient(): boolean {
    return true
  }
}
