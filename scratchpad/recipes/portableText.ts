/**
 * Fields with Portable Text as HTML for pages: `steps: [portableText("body")]` makes `bodyHtml` from each `body`, and `bodyHtml_de` from `body_de`.
 *
 * Pictures and other blocks without text are left out: the page gets them from the field itself, with their `localPath`.
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
