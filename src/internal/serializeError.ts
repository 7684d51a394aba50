/**
 * Errors as data: the form in which errors leave the process (docs/wire.md, section 2.4).
 */
import * as Predicate from "effect/Predicate"
import { printable } from "./printable.ts"

/** An error as JSON: its name, its message and, if it has any, its causes (docs/wire.md, section 2.4). */
export interface SerializedError {
  readonly name: string
  readonly message: string
  readonly cause?: SerializedError | undefined
}

/** The longest chain of causes; the rest is cut. */
const maxDepth = 16

/** The longest name or message, in characters: it has room for all violations of a rejected version. */
const maxLength = 8192

/**
 * Describes any thrown value or failure, and the chain of its causes.
 *
 * Absolute paths in messages are shortened to their last part, `…/manifest.json`: readers of an error, such as a web
 * page, must not learn the folders of this machine. The log has them in full, by `messageOf`.
 *
 * A circular or very deep chain is cut, and so is a long message; control characters are replaced. Hostile values,
 * such as throwing getters, also get a description: this function never throws.
 */
export const serializeError = (error: unknown): SerializedError => shortened(describe(error))

/** The outermost message in the chain of causes that is not empty. */
export const messageOf = (error: unknown): string => {
  const says = ({ cause, message, name }: SerializedError): string =>
    message !== "" ? message : cause === undefined ? withoutPackage(name) : says(cause)
  return says(describe(error))
}

/** The cause, or `undefined` if `hide` replaces something in a message of its chain. */
export const causeWithoutSecrets = (cause: unknown, hide: (text: string) => string): unknown => {
  const messages = ({ cause, message }: SerializedError): ReadonlyArray<string> =>
    cause === undefined ? [message] : [message, ...messages(cause)]
  return messages(describe(cause)).every((message) => hide(message) === message) ? cause : undefined
}

const shortened = ({ cause, message, name }: SerializedError): SerializedError => ({
  name: withoutPackage(cut(name)),
  message: withoutFolders(cut(message)),
  cause: cause && shortened(cause)
})

const cut = (text: string): string =>
  printable(text.length > maxLength ? `${text.slice(0, maxLength)}…` : text)

/**
 * Absolute paths of two parts and more: `/srv/exhibit/downloads`, `C:\Exhibit\downloads`, `\\server\share`,
 * `file:///srv/exhibit`. The text before a path tells it from the path of a URL. Folders may have spaces, and an
 * apostrophe between two letters.
 */
const absolutePath =
  /(?<![\w\]./\\…%~-])(?:file:\/\/|\\\\\?\\)?(?:\/|[a-z]:[\\/]|\\\\)(?:[^\\/\s'"`:<>|](?:(?:[^\\/\n\r'"`:<>|]|(?<=\p{L})'(?=\p{L}))*[^\\/\s'"`:<>|])?[\\/])+((?:[^\\/\s'"`:<>|]|(?<=\p{L})'(?=\p{L}))*)/giu

const withoutFolders = (text: string): string => text.replace(absolutePath, "…/$1")

/** The complete description, for `messageOf` and the schema. */
export const describe = (error: unknown, seen = new Set<unknown>()): SerializedError => {
  if (typeof error !== "object" || error === null) {
    return { name: "Error", message: asText(error) }
  }
  seen.add(error)
  const name = property(error, "name") ?? property(error, "_tag")
  const message = property(error, "message")
  const cause = property(error, "cause")
  const description = {
    name: typeof name === "string" && name !== "" ? name : "Error",
    message: typeof message === "string" ? message : asText(error)
  }
  return cause === undefined || cause === null || seen.has(cause) || seen.size >= maxDepth
    ? description
    : { ...description, cause: describe(cause, seen) }
}

/** Tags begin with the package's name; clients get the name without it. */
const withoutPackage = (name: string): string => name.replace(/^vitrine\//, "")

const property = (target: object, key: string): unknown => {
  try {
    return (target as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

const asText = (value: unknown): string => {
  try {
    return String(value)
  } catch {
    return "unknown error"
  }
}

/** The first system code in the chain of causes, `ENOSPC` for example. */
export const errorCode = (error: unknown, depth = 0): string | undefined =>
  Predicate.hasProperty(error, "code") && Predicate.isString(error.code)
    ? error.code
    : Predicate.hasProperty(error, "cause") && depth < 8
      ? errorCode(error.cause, depth + 1)
      : undefined
