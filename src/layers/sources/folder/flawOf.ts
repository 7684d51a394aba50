/**
 * Files that pages do not show, by their first bytes: names are often wrong.
 */
import { isMarkup } from "../../../internal/editedText.ts"
import { formatOf, notShown } from "../../documents/images/pictureFormat.ts"
import { isPicture } from "./namedFiles.ts"

export interface Flaw {
  /** What is wrong, and what to do. */
  readonly problem: string
  /** Whether smaller pictures are made of it that pages show. */
  readonly isShrinkable: boolean
}

export const flawOf = (path: string, head: Uint8Array): Flaw | undefined => {
  const format = formatOf(head)
  const problem = format && notShown(format)
  if (problem !== undefined) return { problem: `${problem}.`, isShrinkable: format?.decoder !== undefined }
  return isPicture(path) && isMarkup(Buffer.from(head.subarray(0, 4096)).toString())
    ? { problem: "it is a web page (HTML) under the name of a picture.", isShrinkable: false }
    : undefined
}
