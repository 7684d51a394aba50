/**
 * Attachments inside cells: what they are, and what of them lasts.
 *
 * Their addresses and thumbnails are signed anew for every listing, so they say nothing about the content.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"

/** A file that hangs on a record. Fields beyond these may be there or not. */
export interface Attachment {
  readonly id: string
  readonly url: string
  readonly filename: string
  readonly [field: string]: unknown
}

/** Whether an item of an array in a cell is an attachment. */
export const isAttachment = (item: unknown): item is Attachment =>
  Predicate.isReadonlyRecord(item) &&
  Predicate.isString(item.id) &&
  Predicate.isString(item.url) &&
  Predicate.isString(item.filename)

/** Whether there is an attachment anywhere in a value. */
export const hasAttachments = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some((item) => isAttachment(item) || hasAttachments(item))
    : Predicate.isReadonlyRecord(value) && Object.values(value).some(hasAttachments)

/** A value with every attachment in it replaced. */
export const mapAttachments = (
  value: unknown,
  change: (attachment: Attachment) => Readonly<Record<string, unknown>>
): unknown => {
  if (Array.isArray(value)) {
    return value.map((item) => (isAttachment(item) ? change(item) : mapAttachments(item, change)))
  }
  return Predicate.isReadonlyRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, mapAttachments(part, change)]))
    : value
}

/** All attachments in a value, as often as they come up. */
export const attachmentsIn = (value: unknown): ReadonlyArray<Attachment> => {
  const found: Array<Attachment> = []
  mapAttachments(value, (attachment) => {
    found.push(attachment)
    return attachment
  })
  return found
}

/** The size of the file in bytes, where it is one. */
export const sizeOf = ({ size }: Attachment): Option.Option<number> =>
  Predicate.isNumber(size) && Number.isSafeInteger(size) && size >= 0 ? Option.some(size) : Option.none()

/** A value without what changes at every listing although the content is the same. */
export const withoutVolatileParts = (value: unknown): unknown => mapAttachments(value, lasting)

const lastingFields = new Set(["id", "filename", "size", "type", "width", "height", "localPath"])

const lasting = (attachment: Attachment) => Record.filter(attachment, (_, field) => lastingFields.has(field))
