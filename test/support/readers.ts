/**
 * The readers of texts from outside, with texts of any length that are hard to read.
 */
import * as Effect from "effect/Effect"
import { createParser } from "eventsource-parser"
import { closestName } from "../../src/internal/closestName.ts"
import { printable, printableJson, quotedName } from "../../src/internal/printable.ts"
import { serializeError } from "../../src/internal/SerializedError.ts"
import { parseCsvTable } from "../../src/layers/documents/csvText.ts"
import { keyValues } from "../../src/layers/documents/keyValues.ts"
import { looksLikeLink, withoutSignatures } from "../../src/layers/documents/media/links.ts"
import { dispositionName, isShownType, localPathOf } from "../../src/layers/documents/media/mediaTypes.ts"
import { adviceOnOthers, startsPage } from "../../src/layers/documents/media/verdict.ts"
import { alikeWarnings, nameWarnings } from "../../src/layers/documents/names.ts"
import { endOfJson, findStrayMarks, isMarkup } from "../../src/layers/documents/textMistakes.ts"
import { pathOf } from "../../src/layers/http/RequestHead.ts"
import { event } from "../../src/layers/http/SseFrame.ts"
import { hideSecrets } from "../../src/layers/httpClient/secrets.ts"
import { makeNamedFiles } from "../../src/layers/sources/folder/namedFiles.ts"
import { linkOf } from "../../src/layers/sources/json/nextPage.ts"
import { readErrorResponse } from "../../src/layers/sources/tables/requestErrors.ts"

interface Reader {
  /** Makes texts with about so many characters. */
  readonly texts: ReadonlyArray<(length: number) => string>
  readonly read: (text: string) => unknown
}

/** The beginning, then the part as often as it fits, then the end. */
const repeated =
  (part: string, begin = "", end = "") =>
  (length: number): string =>
    begin + part.repeat(Math.ceil(length / part.length)) + end

const reader = (read: Reader["read"], ...texts: Reader["texts"]): Reader => ({ read, texts })

const comments = repeated("---><!--><!----><!-", "<!-")
const blanks = repeated("\t", "a", "a")
const names = repeated("long name of a file ")

/** A tenth of the characters are in one name, the others in names of 200. */
const manyNames = (text: string) =>
  Array.from({ length: text.length / 200 }, (_, index) => `${text.slice(0, 190)}${index}.jpg`)

export const readers: Readonly<Record<string, Reader>> = {
  "The beginning of a web page": reader(isMarkup, comments, repeated("<!--"), blanks),
  "The beginning of a file that names others": reader(startsPage, comments, repeated("<?"), repeated("<!--")),
  "The names in a file": reader(
    (text) => ["svg", "gltf"].map((extension) => adviceOnOthers(extension, text)),
    repeated("<image "),
    repeated('"uri":')
  ),
  "The names of columns and keys": reader(
    (text) => nameWarnings("column", [text, "b"]),
    blanks,
    repeated("a\u200b"),
    repeated("\u00ad")
  ),
  "A CSV file": reader(
    (text) => Effect.runPromise(Effect.either(parseCsvTable(text))),
    repeated('a,"b"\n', "id,name\n"),
    repeated('"'),
    repeated('a"'),
    repeated('"a"b', "id\n"),
    repeated(","),
    repeated("\n"),
    repeated(" \r"),
    comments
  ),
  "A key/value table": reader(
    (text) => keyValues([...text].map((key, index) => ({ id: String(index), fields: { key, value: "" } }))),
    repeated("a")
  ),
  "Names that people read as one": reader((text) => alikeWarnings("key", text), repeated("a")),
  "JSON with a mistake": reader(
    endOfJson,
    repeated("["),
    repeated('{"a":', "[", "x"),
    repeated(" "),
    repeated("\\", '"'),
    repeated("1", "", "x")
  ),
  "A text with stray marks": reader(findStrayMarks, repeated("Ã"), repeated("\n")),
  "A Link header": reader(
    (text) => linkOf(text, "next"),
    repeated(","),
    repeated("<,"),
    repeated("<a>,"),
    repeated('<a>;a="\\",'),
    repeated(" ", "<a>"),
    repeated(";a ", "<a>"),
    repeated('";a=', "<a>;a=")
  ),
  "A Content-Disposition header": reader(
    dispositionName,
    repeated("; a=b", "attachment"),
    repeated("\\", 'attachment; filename="'),
    repeated(" ", "attachment;"),
    repeated("%20", "attachment; filename*=UTF-8''")
  ),
  "The name of a file": reader(
    (text) => localPathOf(text, "0123456789abcdef", { names: [], type: undefined, byBytes: undefined }),
    repeated("-", "a"),
    repeated(".a"),
    repeated("\u0301")
  ),
  "A cell": reader(
    (text) => [looksLikeLink(text), withoutSignatures(text), isShownType(text)],
    repeated("?", "https://a/"),
    repeated(".a", "a/"),
    repeated("&x-amz-signature=1", "https://a/b?"),
    blanks
  ),
  "A cell with the name of a missing file": reader(
    (text) => makeNamedFiles(manyNames(text)).similar(`${text.slice(0, 180)} other.jpg`),
    names
  ),
  "A missing field": reader((text) => closestName(text, [`${text}b`, ...manyNames(text)], 1 / 2), names),
  "The target of a request": reader(pathOf, repeated("#", "/"), repeated("?", "/"), repeated("/")),
  "The refusal of a table": reader(
    readErrorResponse,
    repeated("<title"),
    repeated("<"),
    repeated('{"error":')
  ),
  "An error": reader(
    (text) => serializeError(new Error(text)),
    repeated("/a b"),
    repeated(" /a'"),
    repeated("file:///a "),
    repeated("C:\\a ")
  ),
  "A text with secrets": reader(
    hideSecrets("https://a", { authorization: "Bearer aaaaaaaaaaaaaaaaaaaaaaab" }),
    repeated("a"),
    repeated("\\"),
    repeated("%61")
  ),
  "A printed text": reader(
    (text) => [printable(text), printableJson(text), quotedName(text)],
    repeated("\u202e"),
    repeated("\r\n"),
    repeated(" ")
  ),
  "A frame of an event stream": reader(
    (text) => {
      event("a", text)
      // As it arrives from a socket: the time for one part grows with the square of its length.
      const { feed } = createParser({ onEvent: () => {} })
      for (const part of text.match(/.{1,65536}/gs) ?? []) feed(part)
    },
    repeated("data: a\r"),
    repeated("\n"),
    repeated(":"),
    repeated("id: a\n\n")
  )
}
