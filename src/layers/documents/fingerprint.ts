/**
 * Fingerprints of saved content: equal for equal content.
 */
import { createHash } from "node:crypto"

/** The fingerprint of files, each with the digest of what is in it, in whatever order they were written. */
export const fingerprint = (
  files: ReadonlyArray<{ readonly name: string; readonly digest: string }>
): string =>
  createHash("sha256")
    .update(JSON.stringify(files.map(({ digest, name }) => [name, digest].join("/")).sort()))
    .digest("hex")
