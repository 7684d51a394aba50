/**
 * Adds HTML beside fields with text in another form: `textHtml` for `text`, and `textHtml_de` for `text_de`.
 */
import sanitizeHtml from "sanitize-html"

/**
 * The elements that a page may contain: no scripts, no styles, no frames. Without "a", links become plain text, so that no visitor
 * leaves an exhibit.
 */
const allowed: sanitizeHtml.IOptions = {
  allowedTags: [...sanitizeHtml.defaults.allowedTags, "del", "img"],
  allowedAttributes: { a: ["href", "title"], img: ["src", "alt", "title"], th: ["align"], td: ["align"] },
  allowedSchemes: ["http", "https", "mailto"]
}

/** The language stays at the end, where `language` of `vitrine/client/helpers` looks for it. */
const htmlName = (field: string) => field.replace(/(_[a-z]{2,3}(-[^_]+)?)?$/, "Html$1")

/** A step for documents with a list of records, or with one record. `toHtml` returns nothing if a field has no such text. */
export const withHtml = (fields: ReadonlyArray<string>, toHtml: (value: unknown) => string | undefined) => {
  const addHtml = (record: unknown) => {
    if (typeof record !== "object" || record === null) return record
    const made = Object.entries(record).flatMap(([name, value]) => {
      const html = fields.includes(name) ? toHtml(value) : undefined
      return html === undefined ? [] : [[htmlName(name), sanitizeHtml(html, allowed)]]
    })
    return { ...record, ...Object.fromEntries(made) }
  }
  return (document: unknown): unknown => (Array.isArray(document) ? document.map(addHtml) : addHtml(document))
}
