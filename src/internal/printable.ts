/**
 * Text from elsewhere, fit for a log and a terminal.
 *
 * Names and ids come from bases that others edit. They must not move the cursor, change what was printed before, reverse
 * the direction of text, or fill a disk.
 */
import { countText } from "./readable.ts"

/** Characters of a line, and lines of a text; the rest is cut, and its amount is shown. */
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

/** As `printable`, on one line. */
export const printableLine = (text: string): string => printable(text.replace(/[\s\p{Cc}]+/gu, " ").trim())

/** As `printable`, on one line and cut where it has more than so many characters. */
export const printableStart = (text: string, maxLength: number): string => {
  // One more than is shown, and no half of a pair: the rest of a long text is not looked at.
  const characters = Array.from(text.slice(0, 2 * maxLength + 2)).slice(0, maxLength + 1)
  const shown = characters.slice(0, maxLength).join("").replace(invisible, "�")
  return characters.length > maxLength ? `${shown}…` : shown
}

const printablePart = (line: string): string => {
  const start = line.slice(0, maxLineLength).replaceAll("\t", " ").replace(unprintable, "�")
  const rest = line.length - maxLineLength
  return rest > 0 ? `${start}… (${countText(rest, "more character")})` : start
}

const unprintable = /[\p{Cc}\p{Surrogate}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** All of these, and the other format characters: short text from a stranger has no need of them. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
