/**
 * Text from other systems, made safe for a log and a terminal.
 *
 * Names and ids come from bases that others edit. They must not move the cursor, change earlier output, reverse the
 * direction of text, or fill a disk.
 */
import { countText } from "./readable.ts"

/** The most characters of a line, and the most lines of a text. The rest is cut, and its amount is printed. */
export const maxLineLength = 4096
export const maxLines = 200

/**
 * Replaces each control character, bidirectional control, line separator and lone surrogate with `�`, and cuts long
 * lines and texts. Line breaks stay, and a tab is a space. Colours are added afterwards.
 */
export const printable = (text: string): string => {
  const lines = text.split(/\r?\n/, maxLines + 1)
  const kept = lines.slice(0, maxLines).map(printablePart)
  return lines.length <= maxLines ? kept.join("\n") : [...kept, "… (more lines)"].join("\n")
}

/** As `printable`, on one line, and cut after `maxLength` characters. */
export const printableLine = (text: string, maxLength = maxLineLength): string => {
  // Four times the limit, so that the rest of a long text is not processed.
  const part = text.slice(0, 4 * (maxLength + 1))
  const line = part
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .replace(unprintable, "�")
  const isWhole = part.length === text.length
  if (isWhole && line.length <= maxLength) {
    return line
  }
  const characters = Array.from(line)
  return isWhole && characters.length <= maxLength ? line : `${characters.slice(0, maxLength).join("")}…`
}

/**
 * Text of somebody else for messages, rows and events: at most 300 characters, on one line. Call it where the text
 * comes in.
 */
export const excerpt = (text: string): string => printableLine(text, 300)

/** The same in quotes. */
export const quotedExcerpt = (text: string): string => JSON.stringify(excerpt(text))

/** A name in quotes, with escapes for invisible characters, as in `"title\u200b"`. */
export const quotedName = (name: string, maxLength = 100): string =>
  JSON.stringify(name.length > maxLength ? `${name.slice(0, maxLength)}…` : name).replace(
    /(?! )[\p{Cf}\p{Z}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/** Arguments of a command, in quotes if a shell needs them. */
export const shellWords = (...words: ReadonlyArray<string>): string => words.map(shellWord).join(" ")

const shellWord = (word: string): string => {
  const line = printableLine(word)
  return /^[\w.,:/@%+=-]+$/.test(line)
    ? line
    : /["$`\\!]/.test(line)
      ? `'${line.replaceAll("'", "'\\''")}'`
      : `"${line}"`
}

/** JSON with escapes for control characters: it can be printed, and its value is the same. */
export const printableJson = (value: unknown, space?: number): string =>
  JSON.stringify(value, null, space).replace(
    /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

const printablePart = (line: string): string => {
  const start = line.slice(0, maxLineLength).replaceAll("\t", " ").replace(unprintable, "�")
  const rest = line.length - maxLineLength
  return rest > 0 ? `${start}… (${countText(rest, "more character")})` : start
}

const unprintable = /[\p{Cc}\p{Surrogate}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu
