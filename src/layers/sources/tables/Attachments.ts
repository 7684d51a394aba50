/**
 * Attachments in cells, in any format, and the paths of their files.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { fileKey, fileName } from "../../../files/fileName.ts"
import { hashOfName } from "../../../files/sha256.ts"
import type {
  Attachment,
  AttachmentFormat,
  RecordRequest,
  TableSourceClient
} from "../../../services/TableSourceClient.ts"
import type { Links } from "../../documents/linkRecords.ts"
import type { Refresh } from "../../documents/media/FileProblem.ts"
import { type Lasting, type MediaReader, rowOf, type Whereabouts } from "../../documents/media/placeMedia.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"

/** The field for the path of a saved attachment's file. */
export const localPathField = "localPath"

type Client = typeof TableSourceClient.Service

/** Whether an item of a list is an attachment. */
export const isAttachment =
  ({ read }: AttachmentFormat = noAttachments) =>
  (item: unknown): boolean =>
    Predicate.isReadonlyRecord(item) && Option.isSome(read(item))

const noAttachments: AttachmentFormat = { read: Option.none, lastingFields: new Set() }

/** Removes the parts of an attachment that change at every listing although the content is the same. */
export const makeLasting =
  (links: Links, { lastingFields, read }: AttachmentFormat = noAttachments): Lasting =>
  (object, at) =>
    isPlaceOfAttachment(at, links) && Option.isSome(read(object))
      ? Record.filter(object, (_, field) => field === localPathField || lastingFields.has(field))
      : object

/** Finds the attachments of one fetch. The fresh links of a record that was read again serve all its attachments. */
export const makeReader = (
  { appendLocalAttachmentPaths, links }: Pick<TableSourceOptions, "appendLocalAttachmentPaths" | "links">,
  { attachments: { read } = noAttachments, readRecord }: Pick<Client, "attachments" | "readRecord">
): MediaReader => {
  const pathOf = makeAttachmentPaths()
  const fresh = new Map<string, string>()

  const refresh =
    ({ id }: Attachment, record: RecordRequest): Refresh =>
    (expired) =>
      Effect.gen(function* () {
        const known = fresh.get(id)
        // Another file of the same record may have brought a fresh link.
        if (known !== undefined && known !== expired) return known
        const { fields } = yield* Effect.mapError(readRecord(record), (cause) => ({
          detail: `the record cannot be read again: ${cause.detail}`,
          isTransient: cause.isTransient,
          cause
        }))
        for (const attachment of attachmentsIn(fields, read)) fresh.set(attachment.id, attachment.url)
        return fresh.get(id) ?? (yield* Effect.fail({ detail: "the record no longer has it" }))
      })

  return (item, at) =>
    isPlaceOfAttachment(at, links)
      ? Option.map(read(item), (attachment) => ({
          url: attachment.url,
          name: attachment.filename,
          size: Option.getOrUndefined(attachment.size),
          version: attachment.id,
          localPath: pathOf(attachment),
          writesPath: appendLocalAttachmentPaths,
          refresh: refresh(attachment, recordAt(at, links))
        }))
      : Option.none()
}

/** Attachments are items of lists, and no records: records may have columns with the same names. */
const isPlaceOfAttachment = (
  { parents, path }: Pick<Whereabouts, "parents" | "path">,
  links: Links
): boolean =>
  parents.length > 0 &&
  !(parents.length === 1 && path.length <= 3 && Object.hasOwn(links, path[1] ?? "")) &&
  /^\d+$/.test(path.at(-1) ?? "")

/** The record that contains an attachment: the record of the document, or a record that it links to. */
const recordAt = (
  { document, parents: [saved = {}, linked], path, recordOf }: Whereabouts,
  links: Links
): RecordRequest => {
  const target = links[path[1] ?? ""]
  return recordOf !== undefined
    ? { table: document, recordId: rowOf(recordOf, path) ?? "" }
    : target !== undefined && linked !== undefined && Predicate.isString(linked.id)
      ? { table: target, recordId: linked.id }
      : { table: document, recordId: String(saved.id) }
}

const attachmentsIn = (value: unknown, read: AttachmentFormat["read"]): ReadonlyArray<Attachment> =>
  Predicate.isReadonlyRecord(value)
    ? Option.match(read(value), {
        onNone: () => Object.values(value).flatMap((part) => attachmentsIn(part, read)),
        onSome: (attachment) => [attachment]
      })
    : Array.isArray(value)
      ? value.flatMap((item) => attachmentsIn(item, read))
      : []

/** The path of an attachment's file, relative to the source's folder, with forward slashes. */
export type PathOf = (attachment: Pick<Attachment, "id" | "filename">) => string

/**
 * Paths for one fetch: the same attachment always has the same path, and two attachments never have the same file,
 * even if a file system ignores case or the composition of characters.
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

/** As `fileName`, but a cut name keeps its extension. */
export const attachmentName = (filename: string): string => {
  const { extension = "", stem = filename } =
    /^(?<stem>.+)(?<extension>\.[a-z0-9]{1,16})$/is.exec(filename)?.groups ?? {}
  return fileName(stem) + extension
}

/** No file name ends with it, because the hashes of file names are longer. */
const twin = "%~"
