/**
 * Where the files of attachments are: `attachments/<attachment id>/<file name>`, below the source's folder.
 *
 * The API gives ids; names are text that people chose. Both are made safe for Linux, macOS and Windows.
 */
import { fileKey, fileName, hashOfName } from "../../../internal/FileName.ts"
import type { Attachment } from "../../../services/TableSourceClient.ts"

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
