/**
 * The types of media files: whether the response of a server has the type that its link promises, and the name of the
 * file, `media/<readable>-<16 hexadecimal digits>.<extension>`.
 *
 * Names consist of ASCII letters, digits, `-`, `_` and one dot: valid paths on every system, and valid relative
 * addresses.
 *
 * Servers often state only the syntax of a file, for example `application/json` for a glTF model: then the name and
 * the first bytes decide.
 */
import { parse } from "content-disposition"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import mime from "mime"
import { excerpt } from "../../../internal/printable.ts"
import type { Headers } from "../../httpClient/headers.ts"
import { formatOf } from "../images/pictureFormat.ts"
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

/**
 * Why the first bytes of a file are refused, or `undefined`. An empty file has no bytes. Text is refused in place of a
 * picture or film; a web page is refused in place of every file except a page.
 */
export const wrongBeginning = (
  byName: string | undefined,
  type: string | undefined,
  types: ReadonlyArray<string> | undefined,
  bytes: Uint8Array
): string | undefined => {
  const expected = saysSomething(type) ? type : byName
  if (bytes.length === 0) return `it is empty${expected === undefined ? "" : `, not ${expected}`}`
  const mayBePage =
    isHtmlType(expected) || (isHtmlType(type) && types !== undefined && isOfType("text/html", types))
  if (mayBePage) return undefined
  const text = beginningOf(bytes)
  const isNeverText = expected !== undefined && isNoText(expected)
  const found = isNeverText ? typeOfText(text) : startsPage(text) ? "text/html" : undefined
  return found === undefined || (mayBeSvg(found) && expected === "image/svg+xml")
    ? undefined
    : notThat(found, expected ?? "a file")
}

/** The type by the first bytes of a file; `undefined` if they do not tell it. */
export const typeOfBytes = (bytes: Uint8Array): string | undefined => {
  const text = beginningOf(bytes)
  const [type] = signatures.find(([, signature]) => signature.test(text)) ?? []
  return formatOf(bytes)?.type ?? type ?? (typeOfText(text) === "image/svg+xml" ? "image/svg+xml" : undefined)
}

/** The types of files that are no pictures, in the order of the tests. */
const signatures: ReadonlyArray<readonly [type: string, signature: RegExp]> = [
  ["audio/wav", /^RIFF.{4}WAVE/s],
  ["audio/mp4", /^.{4}ftypM4[AB]/s],
  ["video/quicktime", /^.{4}ftypqt/s],
  ["video/mp4", /^.{4}ftyp/s],
  ["video/webm", /^\x1aE\xdf\xa3/],
  ["audio/ogg", /^OggS/],
  ["audio/mpeg", /^(?:ID3|\xff[\xf2\xf3\xfb])/],
  ["application/pdf", /^%PDF-/],
  ["model/gltf-binary", /^glTF/]
]

/**
 * The advice about a file that needs other files, by its extension and its text; `undefined` if it refers to no
 * files.
 */
export const adviceOnOthers = (extension: string, text: string): string | undefined => {
  const [names, advice] = namers.get(extension) ?? []
  return names?.test(text) === true ? advice : undefined
}

/** Whether `adviceOnOthers` needs the text of a file. */
export const mayNameOthers = (extension: string): boolean => namers.has(extension)

type Namer = readonly [names: RegExp, advice: string]

const playlist: Namer = [/^/, "Link to an MP4 file"]

const namers: ReadonlyMap<string, Namer> = new Map<string, Namer>([
  ["m3u", playlist],
  ["m3u8", playlist],
  ["mpd", playlist],
  ["gltf", [/"uri"\s*:\s*"(?!data:)/, "Link to a GLB file"]],
  [
    "svg",
    [/<(?:svg:)?(?:image|feImage|use)\b[^<>]*\bhref\s*=\s*["'](?!data:|#)/, "Put the pictures into the SVG"]
  ]
])

const beginningOf = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 1024)).toString("latin1")

const saysSomething = (type: string | undefined): type is string =>
  type !== undefined && !saysNothing.has(type)

const isHtmlType = (type: string | undefined): boolean =>
  type === "text/html" || type === "application/xhtml+xml"

/** Whether a text of this type may be a drawing. `text/xml` means that no element is within the first bytes. */
const mayBeSvg = (type: string): boolean => type === "image/svg+xml" || type === "text/xml"

/** Whether a file of this type cannot be text, except a drawing. */
const isNoText = (type: string): boolean =>
  /^(?:image|video|audio|font)\/|^application\/(?:pdf|wasm|zip)$|[+-](?:zip|binary)$/.test(type)

/** The type of a text by its first element, or by its first characters. */
const typeOfText = (text: string): string | undefined => {
  if (startsJson.test(text)) return "application/json"
  const [, element] = firstElement.exec(text) ?? []
  if (element === undefined) return startsMarkup.test(text) ? "text/xml" : undefined
  if (htmlElement.test(element)) return "text/html"
  return /^svg$/i.test(element) ? "image/svg+xml" : "application/xml"
}

/** The name in a document type counts as the first element. */
const firstElement =
  /^(?:\xef\xbb\xbf)?\s*(?:<\?(?:(?!\?>)[\s\S])*\?>\s*|<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:!doctype\s+)?(?:[\w.-]+:)?([\w.-]+)/i
const htmlElement = /^(?:html|head|body|title|script|center|h1)$/i

/** Whether a text is a web page by its first element. Other elements of HTML also occur in texts such as Markdown. */
export const startsPage = (text: string): boolean =>
  /^(?:html|head|body)$/i.test(firstElement.exec(text)?.[1] ?? "")

const startsMarkup = /^(?:\xef\xbb\xbf)?\s*</
const startsJson = /^(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*[[{"\]])/

const notThat = (found: string | undefined, expected: string): string => {
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
  ["text/xml", "XML"]
])

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
