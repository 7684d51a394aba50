/**
 * The verdict of a file by its bytes: right, or its flaw. It is found once, when the file is downloaded or copied, or
 * when its pictures are made, and kept in the index of the version: each fetch warns about it, and opens no file for
 * this.
 *
 * | flaw | a file of a link or an attachment | a file of a folder |
 * |---|---|---|
 * | empty, or something else in its place; cut | refused, unless it is optional | refused if a record names it |
 * | a picture that browsers do not show | warned of | warned of |
 * | a film, sound or subtitle that browsers do not play | warned of | warned of if a record names it |
 */
import { isUtf8 } from "node:buffer"
import { open } from "node:fs/promises"
import { extname } from "node:path"
import * as Schema from "effect/Schema"
import { sentenceOf } from "../../../internal/mistake.ts"
import { quotedExcerpt } from "../../../internal/printable.ts"
import { optional } from "../../../internal/schemas.ts"
import { isPointer, pointerMistake } from "../textMistakes.ts"
import {
  type FileBytes,
  type FileKind,
  headBytes,
  isCut,
  isDamaged,
  kindOf,
  unplayable
} from "./fileKinds.ts"
import { isOfType } from "./links.ts"
import { isHtmlType, notThat, saysSomething } from "./mediaTypes.ts"

export const Flaw = Schema.Struct({
  /**
   * `other`: something else is in its place. `cut`: its end is missing. `picture`: no browser displays it, or its
   * decoder warns. `unplayable`: no browser plays it. `encoding`: it is not UTF-8. `others`: it names files that are
   * not saved. `sizes`: no smaller pictures can be made of it, and it is optional.
   */
  wrong: Schema.Literal("other", "cut", "picture", "unplayable", "encoding", "others", "sizes"),
  /** As in the warning. */
  detail: Schema.String,
  /** Whether smaller pictures can be made from it that pages can display. */
  isShrinkable: optional(Schema.Boolean)
})
export type Flaw = typeof Flaw.Type

/** Whether a version must not have the file if a record needs it. */
export const isUseless = ({ wrong }: Flaw): boolean => wrong === "other" || wrong === "cut"

/** What a file should be. */
export interface Promised {
  /** The type by its name. */
  readonly byName: string | undefined
  /** The type that the server states. */
  readonly type?: string | undefined
  /** The types that the options allow. */
  readonly types?: ReadonlyArray<string> | undefined
  /** Its path, if the files that it names are not saved with it. */
  readonly alone?: string
}

/** The flaw of a file; `undefined` if it is right. */
export const verdictOf = async (promised: Promised, bytes: FileBytes): Promise<Flaw | undefined> => {
  const head = await bytes.read(0, headBytes)
  const { alone = "", byName = "", type } = promised
  const other = head.length === 0 && !isNoText(byName) ? undefined : otherIn(promised, head)
  if (other !== undefined) return { wrong: "other", detail: other }
  const kind = kindOf(head)
  const expected = saysSomething(type) ? type : byName
  if (kind === undefined) {
    // Some systems set the size of a file first, and write its bytes later.
    if (isNoText(byName) && head.every((byte) => byte === 0)) {
      return { wrong: "cut", detail: `it begins with nothing but zeros${copyAgain}` }
    }
    if (expected === "image/svg+xml" && (await isCutSvg(head, bytes))) return cut
    if (expected === "image/svg+xml" && isBare(head)) {
      const name = 'xmlns="http://www.w3.org/2000/svg"'
      return {
        wrong: "picture",
        detail: `it has no ${name}, without which browsers do not show it: export it again`
      }
    }
    if (hasKnownStart.test(expected) && bytes.size >= leastKnown) {
      const [wrong, kind] = expected.startsWith("image/")
        ? (["picture", "picture"] as const)
        : (["unplayable", `file of ${expected}`] as const)
      return { wrong, detail: `its first bytes are those of no ${kind}: export it again` }
    }
    return /^(?:text\/vtt|application\/x-subrip)$/.test(expected)
      ? subtitleFlaw(head, expected === "text/vtt")
      : namesOthers(alone, bytes)
  }
  if (isOtherKind(kind, expected)) return { wrong: "other", detail: notThat(kind.name, expected) }
  if (await isCut(kind, bytes)) {
    return (await isDamaged(kind, bytes))
      ? { wrong: "picture", detail: "it is damaged: export it again" }
      : cut
  }
  const detail = await unplayable(kind, bytes)
  if (detail === undefined) return undefined
  return kind.of === "picture"
    ? { wrong: "picture", detail, isShrinkable: kind.decoder && true }
    : { wrong: "unplayable", detail }
}

/** Files of these types begin with bytes that `fileKinds.ts` knows. */
const hasKnownStart =
  /^(?:image\/(?:jpe?g|png|gif|webp|avif|hei[cf])|video\/(?:mp4|webm)|audio\/(?:mp4|ogg|flac|wav)|application\/pdf|model\/gltf-binary|font\/woff2?)$/

/** In bytes. */
const leastKnown = 1024

/** Whether a drawing has no namespace: inside a page, it needs none. */
const isBare = (head: Buffer): boolean => {
  const [element] = /<svg(?=[\s>])[^<>]*>/.exec(head.toString("latin1", 0, 8192)) ?? []
  return element !== undefined && !/\sxmlns\s*=/.test(element)
}

const copyAgain = ", perhaps because copying was interrupted. Copy it again"
const cut: Flaw = { wrong: "cut", detail: `it is cut or damaged: its end is missing${copyAgain}` }

/** Whether no page shows the file where this type belongs. Films and sounds share containers. */
const isOtherKind = ({ name, of }: FileKind, expected: string): boolean =>
  /^image\//.test(expected)
    ? of !== "picture"
    : /^(?:audio|video)\//.test(expected)
      ? of === "picture" || of === "other"
      : /^font\//.test(expected)
        ? !name.startsWith("WOFF")
        : name !== (only.get(expected) ?? name)

/** The only kinds of some types. */
const only: ReadonlyMap<string, string> = new Map([
  ["application/pdf", "PDF"],
  ["model/gltf-binary", "GLB"]
])

/** Whether a drawing does not end with its first element. Comments may follow. */
const isCutSvg = async (head: Buffer, { read, size }: FileBytes): Promise<boolean> =>
  typeOfText(beginningOf(head)) === "image/svg+xml" &&
  !/<\/(?:[\w.-]+:)?svg\s*>|<svg\b[^<>]*\/>\s*$/i.test(
    (await read(Math.max(0, size - headBytes), headBytes)).toString("latin1")
  )

/** The flaw of a file that needs files which are not saved. Larger files than `maxText` are not read. */
const namesOthers = async (path: string, { read, size }: FileBytes): Promise<Flaw | undefined> => {
  const extension = extname(path).slice(1).toLowerCase()
  if (!namers.has(extension) || size > maxText) return undefined
  const advice = adviceOnOthers(extension, (await read(0, size)).toString())
  return advice === undefined
    ? undefined
    : {
        wrong: "others",
        detail: `the other files are not saved, so it does not play offline. ${advice}, or save the files together with folderSource.`
      }
}

/** In bytes. */
const maxText = 16 * 1024 ** 2

/** The verdict of a file on disk. */
export const verdictOfFile = async (promised: Promised, file: string): Promise<Flaw | undefined> => {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const read = async (offset: number, length: number) => {
      const part = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - offset)))
      const { bytesRead } = await handle.read(part, 0, part.length, offset)
      return part.subarray(0, bytesRead)
    }
    return await verdictOf(promised, { size, read })
  } finally {
    await handle.close()
  }
}

/** Browsers read subtitles only as WebVTT in UTF-8, and leave out cues with other times. */
const subtitleFlaw = (head: Buffer, isWebVtt: boolean): Flaw | undefined => {
  // The last line may be cut.
  const lines = head.length < headBytes ? head : head.subarray(0, head.lastIndexOf("\n"))
  if (!isUtf8(lines)) {
    return { wrong: "encoding", detail: "its subtitles are not UTF-8. Save it with that encoding" }
  }
  const text = lines.toString("latin1")
  if (!isWebVtt || !/^(?:\xef\xbb\xbf)?WEBVTT/.test(text)) {
    return {
      wrong: "unplayable",
      detail: "its subtitles are no WebVTT, which browsers need: export it as WebVTT"
    }
  }
  const odd = text.match(cueTimes)?.find((times) => !validTimes.test(times))
  return odd === undefined
    ? undefined
    : {
        wrong: "unplayable",
        detail: `browsers leave out the subtitle ${quotedExcerpt(odd.trim())}: times of WebVTT are written as 00:01.500 --> 00:03.000`
      }
}

const cueTimes = /^[ \t]*(?:\d[\d:.,]*[ \t]*-->|\d+:[\d:.,]*[ \t]*->)[^\r\n]*/gm
const validTimes = /^\s*(?:\d+:)?[0-5]\d:[0-5]\d\.\d{3}\s*-->\s*(?:\d+:)?[0-5]\d:[0-5]\d\.\d{3}(?:\s|$)/

/**
 * What is in the place of a file, by its first bytes; `undefined` if it is the file. An empty file has no bytes. Text
 * is no picture or film; a web page is no file except a page.
 */
export const otherIn = ({ byName, type, types }: Promised, head: Uint8Array): string | undefined => {
  const expected = saysSomething(type) ? type : byName
  if (head.length === 0) return `it is empty${expected === undefined ? "" : `, not ${expected}`}`
  const text = beginningOf(head)
  if (isPointer(text)) return sentenceOf(pointerMistake).replace(/\.$/, "")
  const mayBePage =
    isHtmlType(expected) || (isHtmlType(type) && types !== undefined && isOfType("text/html", types))
  if (mayBePage) return undefined
  const isNeverText = expected !== undefined && isNoText(expected)
  const found = isNeverText ? typeOfText(text) : startsPage(text) ? "text/html" : undefined
  return found === undefined ||
    (mayBeSvg(found) && expected === "image/svg+xml") ||
    (found === "text/plain" && (!isBinary.test(expected ?? "") || kindOf(head) !== undefined))
    ? undefined
    : notThat(found, expected ?? "a file")
}

/** The type by the first bytes of a file; `undefined` if they do not tell it. */
export const typeOfBytes = (head: Uint8Array): string | undefined =>
  kindOf(head)?.type ?? (typeOfText(beginningOf(head)) === "image/svg+xml" ? "image/svg+xml" : undefined)

const beginningOf = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 1024)).toString("latin1")

/** Whether a text of this type may be a drawing. `text/xml` means that no element is within the first bytes. */
const mayBeSvg = (type: string): boolean => type === "image/svg+xml" || type === "text/xml"

/** Whether a file of this type cannot be JSON or XML, except a drawing. TypeScript has the ending of a film. */
const isNoText = (type: string): boolean =>
  /^(?:image|video(?!\/mp2t)|audio|font)\/|^application\/(?:pdf|wasm|zip)$|[+-](?:zip|binary)$/.test(type)

/** The types of files that are never text. Others, such as playlists, DXF and XPM, are. */
const isBinary =
  /^(?:image\/(?:jpe?g|png|gif|webp|avif|hei[cf]|bmp|tiff|vnd\.microsoft\.icon)|(?:audio|video)\/(?:mp4|mpeg|mp3|ogg|webm|quicktime|opus|x-(?:m4[av]|matroska|msvideo|ms-wm[av]|wav|flac|aac|aiff)|wav|flac|aac|aiff)|application\/pdf|font\/.*|model\/gltf-binary)$/

/** The type of a text by its first element, or by its first characters. */
const typeOfText = (text: string): string | undefined => {
  if (startsJson.test(text)) return "application/json"
  const [, element] = firstElement.exec(text) ?? []
  if (element === undefined) {
    return startsMarkup.test(text) ? "text/xml" : isPlain(text) ? "text/plain" : undefined
  }
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

/** Whether it is a text for people. A text of a few letters may be anything, unless it reads like an error. */
const isPlain = (text: string): boolean =>
  plain.test(text) &&
  (text.trim().length >= 16 || /error|found|denied|forbidden|unauth|expired|gone/i.test(text))

/** The bytes of UTF-8 without control characters; the last letter may be cut. */
const plain = /^(?:[\t\n\f\r -~]|[\xc2-\xf4][\x80-\xbf]{1,3})+[\xc2-\xf4]?[\x80-\xbf]{0,2}$/

/**
 * The advice about a file that needs other files, by its extension and its text; `undefined` if it refers to no
 * files.
 */
export const adviceOnOthers = (extension: string, text: string): string | undefined => {
  const [names, advice] = namers.get(extension) ?? []
  return names?.test(text) === true ? advice : undefined
}

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
