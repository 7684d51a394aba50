/**
 * Names of media files: `media/<readable>-<16 hexadecimal digits>.<extension>`.
 *
 * They are ASCII letters, digits, `-`, `_` and one dot: paths on every system, and relative addresses as they stand.
 */
import { parse } from "content-disposition"
import * as Option from "effect/Option"
import mime from "mime"

/** The folder of media in that of their source. */
export const mediaFolder = "media"

interface NamedFile {
  /** Which file it is, as 16 hexadecimal digits. */
  readonly key: string
  /** A name from anywhere, with or without an extension. */
  readonly name: string
  /** What the server says that it is. */
  readonly type: Option.Option<string>
}

/** The path of a file, relative to the folder of its source. */
export const localPathOf = ({ key, name, type }: NamedFile): string => {
  const { extension, stem } = partsOf(name)
  const ending = extensionFor(extension, type)
  return `${mediaFolder}/${readable(stem)}-${key}${ending === "" ? "" : `.${ending}`}`
}

/** Whether a file of this path may be of this type: its extension would stay. */
export const fits = (localPath: string, type: Option.Option<string>): boolean => {
  const { extension } = partsOf(localPath)
  return extensionFor(extension, type) === extension
}

/** Whether it is a path that `localPathOf` gives. */
export const isMediaPath = (path: string): boolean =>
  /^media\/[\w-]{1,60}-[0-9a-f]{16}(?:\.[a-z0-9]{1,16})?$/.test(path)

/** The name that a server gives a file, without folders. */
export const dispositionName = (header: string | undefined): Option.Option<string> =>
  Option.fromNullable(header).pipe(
    Option.flatMap(Option.liftThrowable((text) => parse(text).parameters.filename)),
    Option.flatMap(Option.fromNullable),
    Option.map((name) => name.split(/[\\/]/).at(-1) ?? ""),
    Option.filter((name) => name.trim() !== "")
  )

/** The last part of an address, as it was before it was escaped; it may be empty. */
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

/** Characters of a name that are looked at, from its end. */
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

/** That of the name, unless it is missing or the server says that the file is something else. */
const extensionFor = (extension: string, type: Option.Option<string>): string =>
  type.pipe(
    Option.filter((type) => extension === "" || !saysNothing.has(type)),
    Option.filter((type) => mime.getType(extension) !== type),
    Option.flatMap((type) => Option.fromNullable(usual.get(type) ?? mime.getExtension(type))),
    Option.getOrElse(() => extension)
  )

/** What servers say of files that they do not know, or of which they know only how they are written. */
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
