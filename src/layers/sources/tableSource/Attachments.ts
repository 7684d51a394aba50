/**
 * Attachments: in cells, whatever they look like there, and where their files are.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { fileKey, fileName, hashOfName } from "../../../internal/FileName.ts"
import type { Attachment, AttachmentFormat } from "../../../services/TableSourceClient.ts"

export interface AttachmentCells {
  /** All attachments in a value, as often as they come up. */
  readonly allIn: (value: unknown) => ReadonlyArray<Attachment>

  /** A value with every attachment in it replaced; itself where nothing becomes another. */
  readonly replaceIn: (value: unknown, change: (attachment: Attachment, item: Item) => Item) => unknown

  /** A value without what changes at every listing although the content is the same; itself where there is nothing such. */
  readonly withoutVolatileParts: (value: unknown) => unknown
}

/** An attachment as it came. */
type Item = Readonly<Record<string, unknown>>

/** The field that says where the file of a saved attachment is. */
export const localPathField = "localPath"

export const make = ({ lastingFields, read }: AttachmentFormat = noAttachments): AttachmentCells => {
  const replaceIn: AttachmentCells["replaceIn"] = (value, change) => {
    if (Array.isArray(value)) {
      const items = value.map((item) =>
        Option.match(Predicate.isReadonlyRecord(item) ? read(item) : Option.none(), {
          onNone: () => replaceIn(item, change),
          onSome: (attachment) => change(attachment, item)
        })
      )
      return items.every((item, index) => item === value[index]) ? value : items
    }
    return Predicate.isReadonlyRecord(value)
      ? replaceInFields(value, (part) => replaceIn(part, change))
      : value
  }

  const lasting = (_: Attachment, item: Item) =>
    Record.filter(item, (_, field) => field === localPathField || lastingFields.has(field))

  return {
    allIn: (value) => {
      const found: Array<Attachment> = []
      replaceIn(value, (attachment, item) => {
        found.push(attachment)
        return item
      })
      return found
    },
    replaceIn,
    withoutVolatileParts: (value) => replaceIn(value, lasting)
  }
}

/** An object with other values in its fields; itself where all of them stay. */
export const replaceInFields = (fields: Item, change: (value: unknown, name: string) => unknown): Item => {
  let changed: Map<string, unknown> | undefined
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (typeof value !== "object") continue
    const next = change(value, name)
    if (next !== value) changed = (changed ?? new Map()).set(name, next)
  }
  return changed === undefined ? fields : { ...fields, ...Object.fromEntries(changed) }
}

/** Whether an item of a list is one. */
export const isAttachment =
  ({ read }: AttachmentFormat = noAttachments) =>
  (item: unknown): boolean =>
    Predicate.isReadonlyRecord(item) && Option.isSome(read(item))

const noAttachments: AttachmentFormat = { read: Option.none, lastingFields: new Set() }

/** The path of an attachment's file, relative to the source's folder, with forward slashes. */
export type PathOf = (attachment: Pick<Attachment, "id" | "filename">) => string

/**
 * Paths for one fetch: the same attachment has one path however often it comes up, and two attachments never
 * have one and the same file, though a file system may ignore case or how characters are composed.
 */
export const makeAttachmentPaths = (): PathOf => {
  const owners = new Map<string, string>()
  const paths = new Map<string, string>()

  const folder = (id: string): string => {
    const key = fileKey(id)
    const owner = owners.get(key) ?? id
    owners.set(key, owner)
    return owner === id ? fileName(id) : `${fileName(id)}${twin}${hashOfName(id, 8)}`
  }

  return ({ filename, id }) => {
    const name = attachmentName(filename)
    const key = JSON.stringify([id, fileKey(name)])
    const path = paths.get(key) ?? `attachments/${folder(id)}/${name}`
    paths.set(key, path)
    return path
  }
}

/** As `fileName`, with the extension kept where the name is cut. */
export const attachmentName = (filename: string): string => {
  const { extension = "", stem = filename } =
    /^(?<stem>.+)(?<extension>\.[a-z0-9]{1,16})$/is.exec(filename)?.groups ?? {}
  return fileName(stem) + extension
}

/** Not at the end of any file name, whose own hashes are longer. */
const twin = "%~"
