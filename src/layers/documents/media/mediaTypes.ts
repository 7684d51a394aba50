/**
 * The types of media files: whether the response of a server has the type that its link promises, and the name of the
 * file, `media/<readable>-<16 hexadecimal digits>.<extension>`.
 *
 * Names consist of ASCII letters, digits, `-`, `_` and one dot: valid paths on every system, and valid relative
 * addresses.
 *
 * Servers often state only the syntax of a file, for example `application/json` for a glTF model: then the name and
 * the first bytes decide (verdict.ts).
 */
import { parse } from "content-disposition"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import mime from "mime"
import { excerpt } from "../../../internal/printable.ts"
import type { Headers } from "../../httpClient/headers.ts"
import { decode, isOfType, typeOfUrl } from "./links.ts"

/** The type that a server states, in small letters and without parameters; `undefined` if it states nothing useful. */
export const typeOfResponse = ({ headers }: { readonly headers: Headers }): string | undefined => {
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase()
  return type !== undefined && /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(type) ? type : undefined
}

/** The mistake in the type of a file; `undefined` if there is none, as far as this is known without its bytes. */
export const wrongType = (
  url: URL,
  type: string | undefined,
  types: ReadonlyArray<string> | undefined
): string | undefined => {
  const byName = typeOfUrl(url)
  if (types === undefined) {
    return byName === undefined && isHtmlType(type) ? notThat(type, "a file") : undefined
  }
  const stated = (saysSomething(type) ? [type] : [byName, type]).filter(Predicate.isNotUndefined)
  return stated.some((type) => isOfType(type, types)) ? undefined : notThat(stated[0], types.join(" or "))
}

export const saysSomething = (type: string | undefined): type is string =>
  type !== undefined && !saysNothing.test(type)

export const isHtmlType = (type: string | undefined): boolean =>
  type === "text/html" || type === "application/xhtml+xml"

export const notThat = (found: string | undefined, expected: string): string => {
  const format = found === undefined ? undefined : answers.get(found)
  const isPage = isHtmlType(found) || format !== undefined
  const what = isHtmlType(found)
    ? "an HTML page"
    : (format ?? (found && excerpt(found)) ?? "of an unknown type")
  return `it is ${what}, not ${expected}${isPage ? ": perhaps a login or error page" : ""}`
}

/** The formats of servers' error responses, by their names for people. */
const answers: ReadonlyMap<string, string> = new Map([
  ["application/json", "JSON"],
  ["application/xml", "XML"],
  ["text/xml", "XML"],
  ["text/plain", "text"]
])

/**
 * The type by the end of a path, behind a slash: without a slash, `mime` takes the words `pdf` and `.pdf` for
 * extensions.
 */
export const typeOfPath = (path: string): string | undefined => mime.getType(`/${path}`) ?? undefined

/** Whether a path has the extension of a file that pages display. */
export const isShownType = (path: string): boolean => shownTypes.test(typeOfPath(path) ?? "")

const shownTypes = /^(?:image|audio|video|model|font)\/|^application\/(?:pdf|x-subrip)$|^text\/vtt$/

/** The folder of media in the folder of the source. */
export const mediaFolder = "media"

/** The evidence for the kind of a file. */
export interface FileKind {
  /** Names from anywhere, with or without an extension: the extension of the first name counts, or else of the next. */
  readonly names: ReadonlyArray<string>
  /** The type in the response of the server. */
  readonly type: string | undefined
  /** The type by its first bytes. */
  readonly byBytes: string | undefined
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
export const dispositionName = (header: string | undefined): string | undefined => {
  const name = Option.getOrUndefined(filenameIn(header ?? ""))
    ?.split(/[\\/]/)
    .at(-1)
  return name?.trim() === "" ? undefined : name
}

const filenameIn = Option.liftThrowable((header: string) => parse(header).parameters.filename)

/** The last part of an address, unescaped; it may be empty. */
export const nameOfUrl = ({ pathname }: URL): string => {
  const last = pathname.split("/").findLast((part) => part !== "") ?? ""
  return Option.getOrElse(decode(last), () => last)
}

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
  if (saysSomething(type) && mime.getExtension(type) !== null) {
    return known !== undefined && isOf(known, type) ? known : usualExtension(type)
  }
  return known ?? (byBytes && usualExtension(byBytes)) ?? extensions[0] ?? usualExtension(type ?? "")
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
const saysNothing =
  /^(?:(?:application|binary)\/octet-stream|application\/(?:x-download|force-download|xhtml\+xml|zip)|text\/(?:plain|html)|(?:application|text)\/(?:json|xml))$/

const usual: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", "jpg"],
  ["image/jpg", "jpg"],
  ["audio/mpeg", "mp3"],
  ["video/quicktime", "mov"]
])
