// What the page does. How it looks is in the files beside this one.
import { current, language, validAt } from "vitrine/client/helpers"
import { connect } from "vitrine/client/preview"

/** @import { Content } from "vitrine/client" */
/** @import { Picture, PictureFile, Version } from "vitrine/client/preview" */

const hyphenOf = (/** @type {string} */ code) => {
  /** @type {Readonly<Record<string, () => Promise<typeof import("vitrine/client/hyphen/en")>>>} */
  const all = {
    de: () => import("vitrine/client/hyphen/de"),
    en: () => import("vitrine/client/hyphen/en")
  }
  return all[code]?.() ?? Promise.reject()
}

{{exhibit.js}}
