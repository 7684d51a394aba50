/**
 * Fingerprints of saved content: equal for equal content, though its attachments were signed anew.
 */
import { createHash } from "node:crypto"
import { hasAttachments, withoutVolatileParts } from "./Attachment.ts"
import { savedText } from "./SavedJson.ts"

/** Takes in one value after the other; the values must be sorted. */
export interface Digest {
  /** `text` is the value as it is saved, so that it need not be made twice. */
  readonly add: (value: unknown, text: string) => void
  /** As `add` of each of the objects, one after the other; `text` is the array of them as it is saved. */
  readonly addAll: (values: ReadonlyArray<object>, text: string) => void
  /** The sum of all, hexadecimal. Nothing can be added afterwards. */
  readonly sum: () => string
}

export const makeDigest = (): Digest => {
  const hash = createHash("sha256")
  const addText = (text: string) => {
    hash.update(text)
    hash.update("\n")
  }
  return {
    add: (value, text) => addText(hasAttachments(value) ? savedText(withoutVolatileParts(value)) : text),
    addAll: (values, text) => {
      if (values.some(hasAttachments)) {
        for (const value of values) addText(savedText(withoutVolatileParts(value)))
      } else {
        hash.update(lines(text))
      }
    },
    sum: () => hash.digest("hex")
  }
}

/** The objects of a saved array, each as it is saved by itself, with a line break after it. */
const lines = (text: string): string =>
  text.slice(1, -1).replaceAll("\n  ", "\n").replaceAll("\n},\n{", "\n}\n{").slice(1)

/** The fingerprint of files, each with the digest of what is in it, in whatever order they were written. */
export const fingerprint = (
  files: ReadonlyArray<{ readonly name: string; readonly digest: string }>
): string =>
  createHash("sha256")
    .update(JSON.stringify(files.map(({ digest, name }) => [name, digest].join("/")).sort()))
    .digest("hex")
