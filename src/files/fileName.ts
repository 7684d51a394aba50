/**
 * Names that people chose, as names of files on Linux, macOS and Windows.
 *
 * It owns what is safe and what is the same file. It knows nothing of folders or of extensions.
 */
import { createHash } from "node:crypto"

/** Less than a file name may have: this leaves room for an extension and for a temporary suffix. */
const maxBytes = 200
const maxStoredBytes = 255

/**
 * A name as the name, or the stem of the name, of a single file.
 *
 * An ordinary name, Unicode and spaces included, stays as it is. What some system cannot store is written as
 * percent signs and hexadecimal digits; a long name is cut and ends in a short hash of the whole. Different
 * names give different file names, though a file system may fold those together: see `fileKey`.
 */
export const fileName = (name: string): string => {
  const escaped = escapeDeviceName(escapeCharacters(name))
  return Buffer.byteLength(escaped) <= maxBytes ? escaped : shorten(escaped, name)
}

/** Whether a name can be used for a file as it stands. */
export const isPlainFileName = (name: string): boolean => fileName(name) === name

/**
 * Whether Linux, macOS and Windows can store a file of this name as it stands. It may be one that `fileName` gave, with an
 * extension.
 */
export const isPortableFileName = (name: string): boolean => {
  const unescaped = name.replaceAll("%", "_")
  return (
    escapeDeviceName(escapeCharacters(unescaped)) === unescaped && Buffer.byteLength(name) <= maxStoredBytes
  )
}

/**
 * Equal for names whose files may be one and the same: Windows and macOS ignore case, macOS ignores how a
 * character is composed.
 */
export const fileKey = (name: string): string => foldCase(fileName(name))

/** As `fileKey`, of file names as they are stored, or of paths of such. */
export const foldCase = (path: string): string =>
  path.normalize("NFD").toLowerCase().toUpperCase().normalize("NFD")

/** A percent sign that is not followed by two digits marks what no escape can produce. */
const empty = "%"
const shortened = "%~"

const unsafe = /[\p{Cc}\p{Surrogate}<>:"/\\|?*%]|^\.|[. ]$/gu

const escapeCharacters = (name: string): string =>
  name === "" ? empty : name.replace(unsafe, escapeCharacter)

const escapeCharacter = (character: string): string => {
  const code = character.charCodeAt(0)
  const digits = code.toString(16).toUpperCase()
  return code > 0xff ? `%u${digits}` : `%${digits.padStart(2, "0")}`
}

/** Windows keeps these for devices, with any extension too. */
const deviceName = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\.|$)/i

const escapeDeviceName = (name: string): string =>
  deviceName.test(name) ? escapeCharacter(name.charAt(0)) + name.slice(1) : name

/** Equal for equal names only, as hexadecimal digits; a lone surrogate counts as what it is. */
export const hashOfName = (name: string, digits: number): string =>
  createHash("sha256").update(name, "utf16le").digest("hex").slice(0, digits)

const shorten = (escaped: string, name: string): string => {
  const ending = `${shortened}${hashOfName(name, 16)}`
  const room = maxBytes - ending.length
  let head = ""
  let bytes = 0
  for (const [part] of escaped.matchAll(/%u....|%..|[^%]/gsu)) {
    bytes += Buffer.byteLength(part)
    if (bytes > room) break
    head += part
  }
  return head + ending
}
