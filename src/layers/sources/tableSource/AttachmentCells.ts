/**
 * Attachments inside cells, whatever they look like there.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type { Attachment, AttachmentFormat } from "../../../services/TableSourceClient.ts"

export interface AttachmentCells {
  /** Whether there is an attachment anywhere in a value. */
  readonly isIn: (value: unknown) => boolean

  /** All attachments in a value, as often as they come up. */
  readonly allIn: (value: unknown) => ReadonlyArray<Attachment>

  /** A value with every attachment in it replaced. */
  readonly replaceIn: (value: unknown, change: (attachment: Attachment, item: Item) => Item) => unknown

  /** A value without what changes at every listing although the content is the same; itself where there is nothing such. */
  readonly withoutVolatileParts: (value: unknown) => unknown
}

/** An attachment as it came. */
type Item = Readonly<Record<string, unknown>>

/** The field that says where the file of a saved attachment is. */
export const localPathField = "localPath"

export const make = ({ lastingFields, read }: AttachmentFormat = noAttachments): AttachmentCells => {
  const isIn = (value: unknown): boolean =>
    Array.isArray(value)
      ? value.some((item) => (Predicate.isReadonlyRecord(item) && Option.isSome(read(item))) || isIn(item))
      : Predicate.isReadonlyRecord(value) && Object.values(value).some(isIn)

  const replaceIn: AttachmentCells["replaceIn"] = (value, change) => {
    if (Array.isArray(value)) {
      return value.map((item) =>
        Option.match(Predicate.isReadonlyRecord(item) ? read(item) : Option.none(), {
          onNone: () => replaceIn(item, change),
          onSome: (attachment) => change(attachment, item)
        })
      )
    }
    return Predicate.isReadonlyRecord(value)
      ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, replaceIn(part, change)]))
      : value
  }

  const lasting = (_: Attachment, item: Item) =>
    Record.filter(item, (_, field) => field === localPathField || lastingFields.has(field))

  return {
    isIn,
    allIn: (value) => {
      const found: Array<Attachment> = []
      replaceIn(value, (attachment, item) => {
        found.push(attachment)
        return item
      })
      return found
    },
    replaceIn,
    withoutVolatileParts: (value) => (isIn(value) ? replaceIn(value, lasting) : value)
  }
}

/** Whether an item of a list is one. */
export const isAttachment =
  ({ read }: AttachmentFormat = noAttachments) =>
  (item: unknown): boolean =>
    Predicate.isReadonlyRecord(item) && Option.isSome(read(item))

const noAttachments: AttachmentFormat = { read: Option.none, lastingFields: new Set() }
