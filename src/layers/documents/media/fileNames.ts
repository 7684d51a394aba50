/**
 * Names of media files: `media/<readable>-<16 hexadecimal digits>.<extension>`.
 *
 * They consist of ASCII letters, digits, `-`, `_` and one dot: valid paths on every system, and valid relative
 * addresses.
 */
import { parse } from "content-disposition"
import * as Option from "effect/Option"
import mime from "mime"

/** The folder of media in the folder of the source. */
export const mediaFolder = "media"

/** The evidence for the kind of a file. */
export interface FileKind {
  /** Names from anywhere, with or without an extension: the extension of the first name counts, or else of the next. */
  readonly names: ReadonlyArray<string>
  /** The type in the response of the server. */
  readonly type: Option.Option<string>
  /** The type by its first bytes. */
  readonly byBytes: Option.Option<string>
}

/** The path of a file, relative to the folder of its source. `key` identifies the file with 16 hexadecimal digits. */
export const localPathOf = (name: string, key: string, kind: FileKind): string => {
  const ending = extensionOf({ ...kind, names: [name, ...kind.names] })
  return `${mediaFolder}/${readable(partsOf(name).stem)}-${key}${ending === "" ? "" : `.${ending}`}`
}

/** Whether a file of this kind keeps this path: its extension would stay. */
export const fits = (localPath: string, kind: FileKind): boolean =>
  extensionOf({ ...kind, names: [localPath, ...kind.names] }) === partsOf(localPath).extension

/** Whether the path is a result of `localPathOf`. */
export const isMediaPath = (path: string): boolean =>
  /^media\/[\w-]{1,60}-[0-9a-f]{16}(?:\.[a-z0-9]{1,16})?$/.test(path)

/** The server's name for a file, without folders. */
export const dispositionName = (header: string | undefined): Option.Option<string> =>
  Option.fromNullable(header).pipe(
    Option.flatMap(Option.liftThrowable((text) => parse(text).parameters.filename)),
    Option.flatMap(Option.fromNullable),
    Option.map((name) => name.split(/[\\/]/).at(-1) ?? ""),
    Option.filter((name) => name.trim() !== "")
  )

/** The last part of an address, unescaped; it may be empty. */
export const nameOfUrl = ({ pathname }: URL): string => {
  const last = pathname.split("/").findLast((part) => part !== "") ?? ""
  return Option.getOrElse(decode(last), () => last)
}

const decode = Option.liftThrowable(decodeURIComponent)

const partsOf = (name: string) => {
  const { extension = "", stem = name } =
    /^(?<stem>.*)\.(?<extension>[a-z0-9]{1,16})$/isu.exec(name.slice(-maxName))?.groups ?? {}
  return { extension: extension.toLowerCase(), stem }
}

/** The most characters of a name that are read, from its end. */
const maxName = 1000

const readable = (stem: string): string => {
  const words = stem
    .normalize("NFKD")
    .replace(/\p{Mn}/gu, "")
    .replace(/[^\w]+/g, "-")
    .slice(0, 60)
    .replace(/^-+|-+$/g, "")
  return words === "" ? "file" : words
}

/** The extension of a name, unless the server states another type. If neither says the type, the first bytes do. */
const extensionOf = ({ byBytes, names, type }: FileKind): string => {
  const extensions = names.map((name) => partsOf(name).extension).filter((extension) => extension !== "")
  const known = extensions.find((extension) => typeOf(extension) !== null)
  const stated = Option.filter(type, (type) => !saysNothing.has(type) && mime.getExtension(type) !== null)
  return Option.match(stated, {
    onSome: (type) => (known !== undefined && isOf(known, type) ? known : usualExtension(type)),
    onNone: () =>
      known ??
      Option.getOrUndefined(Option.map(byBytes, usualExtension)) ??
      extensions[0] ??
      Option.getOrElse(Option.map(type, usualExtension), () => "")
  })
}

/** The type of an extension; `null` for the extensions of programs, which make files of any kind. */
const typeOf = (extension: string): string | null => {
  const type = mime.getType(extension)
  return type === "application/octet-stream" || type === "application/x-httpd-php" ? null : type
}

/** A type has several extensions, and `application/ogg` has the extensions of `audio/ogg` too. */
const isOf = (extension: string, type: string): boolean =>
  typeOf(extension)?.split("/")[1] === type.split("/")[1]

const usualExtension = (type: string): string => usual.get(type) ?? mime.getExtension(type) ?? ""

/** The types that servers state for unknown files, or that only describe the syntax of a file. */
export const saysNothing: ReadonlySet<string> = new Set([
  "application/octet-stream",
  "binary/octet-stream",
  "application/x-download",
  "application/force-download",
  "text/plain",
  "text/html",
  "application/xhtml+xml",
  "application/json",
  "text/json",
  "application/xml",
  "text/xml",
  "application/zip"
])

const usual: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", "jpg"],
  ["image/jpg", "jpg"],
  ["audio/mpeg", "mp3"],
  ["video/quicktime", "mov"]
])
