/**
 * Fields with Markdown as HTML for pages: `steps: [markdown("text")]` makes `textHtml` from each `text`, and `textHtml_de` from `text_de`.
 *
 * `npm install marked sanitize-html`
 */
import { marked } from "marked"
import { withHtml } from "./html.ts"

export const markdown = (...fields: ReadonlyArray<string>) =>
  withHtml(fields, (value) => (typeof value === "string" ? marked.parse(value, { async: false }) : undefined))
