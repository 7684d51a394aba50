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
  /** The sum of all, hexadecimal. Nothing can be added afterwards. */
  readonly sum: () => string
}

export const makeDigest = (): Digest => {
  const hash = createHash("sha256")
  return {
    add: (value, text) => {
      hash.update(hasAttachments(value) ? savedText(withoutVolatileParts(value)) : text)
      hash.update("\n")
    },
    sum: () => hash.digest("hex")
  }
}

/** The fingerprint of files, each with the digest of what is in it, in whatever order they were written. */
export const fingerprint = (
  files: ReadonlyArray<{ readonly name: string; readonly digest: string }>
): string =>
  createHash("sha256")
    .update(JSON.stringify(files.map(({ digest, name }) => [name, digest].join("/")).sort()))
    .digest("hex")
