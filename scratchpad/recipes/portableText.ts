/**
 * Fields with Portable Text as HTML for pages: `steps: [portableText("body")]` makes `bodyHtml` of each `body`, and of `body_de` `bodyHtml_de`.
 *
 * Pictures and what else is no text are left out: the page takes them from the field itself, where they have their `localPath`.
 *
 * `npm install @portabletext/to-html sanitize-html`
 */
import { toHTML } from "@portabletext/to-html"
import { withHtml } from "./html.ts"

const isTyped = (value: unknown): value is { readonly _type: string } =>
  typeof value === "object" && value !== null && "_type" in value && typeof value._type === "string"

export const portableText = (...fields: ReadonlyArray<string>) =>
  withHtml(fields, (value) =>
    Array.isArray(value)
      ? toHTML(value.filter(isTyped), { components: { unknownType: () => "" }, onMissingComponent: false })
      : undefined
  )
