/**
 * Names that people chose, as file names on Linux, macOS and Windows.
 *
 * It owns which names are safe and which are the same file. It knows nothing of folders or extensions. It imports nothing,
 * because it is also part of pages.
 */

/** Less than the limit of a file name: this leaves room for an extension and for a temporary suffix. */
const maxBytes = 200
const maxStoredBytes = 255

/**
 * A name as a file name, or the stem of a file name.
 *
 * An ordinary name, Unicode and spaces included, stays as it is. Characters that some system cannot store become
 * percent signs and hexadecimal digits; a long name is cut and ends with a short hash of the whole. Different names
 * give different file names, but a file system may treat these as equal: see `fileKey`.
 */
export const fileName = (name: string): string => {
  const escaped = escapeDeviceName(escapeCharacters(name))
  return bytesOf(escaped) <= maxBytes ? escaped : shorten(escaped, name)
}

/** Whether a name is a file name without changes. */
export const isPlainFileName = (name: string): boolean => fileName(name) === name

/**
 * Whether Linux, macOS and Windows can store a file of this name without changes. The name may be a result of
 * `fileName`, with an extension.
 */
export const isPortableFileName = (name: string): boolean => {
  const unescaped = name.replace(/%/g, "_")
  return escapeDeviceName(escapeCharacters(unescaped)) === unescaped && bytesOf(name) <= maxStoredBytes
}

/**
 * Equal for names whose files may be the same: Windows and macOS ignore case, macOS ignores how a character is
 * composed.
 */
export const fileKey = (name: string): string => foldCase(fileName(name))

/** As `fileKey`, for file names as they are stored, or for their paths. */
export const foldCase = (path: string): string =>
  path.normalize("NFD").toLowerCase().toUpperCase().normalize("NFD")

/** A percent sign without two digits behind it marks a name that no escape can produce. */
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

/** Windows reserves these names for devices, with any extension too. */
const deviceName = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\.|$)/i

const escapeDeviceName = (name: string): string =>
  deviceName.test(name) ? escapeCharacter(name.charAt(0)) + name.slice(1) : name

const encoder = new TextEncoder()
const bytesOf = (text: string): number => encoder.encode(text).length

/** FNV-1a of the UTF-16 code units, 16 hexadecimal digits: browsers have SHA-256 only for pages from a secure origin. */
const hashOf = (name: string): string => {
  let hash = 0xcbf29ce484222325n
  for (let index = 0; index < name.length; index++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(name.charCodeAt(index))) * 0x100000001b3n)
  }
  return hash.toString(16).padStart(16, "0")
}

const shorten = (escaped: string, name: string): string => {
  const ending = `${shortened}${hashOf(name)}`
  const room = maxBytes - ending.length
  let head = ""
  let bytes = 0
  for (const [part] of escaped.matchAll(/%u....|%..|[^%]/gsu)) {
    bytes += bytesOf(part)
    if (bytes > room) break
    head += part
  }
  return head + ending
}

/** The id in undecoded options, which is also the name of a folder; empty if it is missing or invalid. */
export const idOf = (input: unknown): string =>
  typeof input === "object" &&
  input !== null &&
  "id" in input &&
  typeof input.id === "string" &&
  isPlainFileName(input.id)
    ? input.id
    : ""
