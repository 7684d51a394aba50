/**
 * Writes shapes as TypeScript: a declaration of `Content` of `vitrine/client`.
 */
import { type Field, hasValues, type Kinds, nothing, type ObjectShape, type Shape } from "./Shape.ts"

/** A document of a source: an array of records, or one value. */
export interface DocumentShape {
  readonly holds: "records" | "value"
  /** The type of each record, or of the value. */
  readonly shape: Shape
}

/** Documents by source id and name. */
export type ContentShape = ReadonlyMap<string, ReadonlyMap<string, DocumentShape>>

/** Equal for equal shapes. Fields that a schema requires are required; all others are optional, except the `id` of records. */
export const declaration = (content: ContentShape): string => {
  const sources = sorted(content).map(
    ([source, documents]) =>
      `    readonly ${key(source)}: {\n${sorted(documents)
        .map(([name, document]) => `      readonly ${key(name)}: ${documentType(document, "      ")}\n`)
        .join("")}    }\n`
  )
  const text = sources.join("")
  const used = ["Attachment", "PictureFile", "Row"].filter((name) => new RegExp(`\\b${name}\\b`).test(text))
  return `// The tables of this project. "vitrine types" writes this file, and overwrites all changes.
${used.length === 0 ? "export {}" : `import type { ${used.join(", ")} } from "vitrine/client"`}

declare module "vitrine/client" {
  interface Content {
${text}  }
}
`
}

const documentType = ({ holds, shape }: DocumentShape, indent: string): string => {
  if (holds === "value") return typeOf(shape, indent)
  return shape === "unknown" || !hasValues(shape)
    ? "ReadonlyArray<Row>"
    : `ReadonlyArray<${typeOf(withRequiredId(shape), indent)}>`
}

/** Makes `id` required, because every record has an id. */
const withRequiredId = (shape: Kinds): Kinds => {
  const id = shape.object?.fields.get("id")
  return shape.object === undefined || id === undefined || id.presence === "sometimes"
    ? shape
    : {
        ...shape,
        object: {
          ...shape.object,
          fields: new Map(shape.object.fields).set("id", { ...id, presence: "required" })
        }
      }
}

const typeOf = (shape: Shape, indent: string): string => {
  if (shape === "unknown" || !hasValues(shape)) return "unknown"
  return [
    ...(shape.string === undefined ? [] : shape.string === true ? ["string"] : shape.string.map(quoted)),
    ...(shape.number ? ["number"] : []),
    ...(shape.boolean ? ["boolean"] : []),
    ...(shape.list === undefined ? [] : [`ReadonlyArray<${typeOf(shape.list, indent)}>`]),
    ...(shape.object === undefined ? [] : [objectType(shape.object, indent)]),
    ...(shape.null ? ["null"] : [])
  ].join(" | ")
}

const objectType = (object: ObjectShape, indent: string): string => {
  const file = fileType(object)
  if (file === undefined) return literalType(object, indent)
  const others = new Map([...object.fields].filter(([name]) => !file.fields.has(name)))
  return others.size === 0
    ? file.name
    : `(${file.name} & ${literalType({ ...object, fields: others }, indent)})`
}

const literalType = ({ fields, rest }: ObjectShape, indent: string): string => {
  const inner = `${indent}  `
  const others = rest ?? (fields.size === 0 ? "unknown" : undefined)
  const lines = [
    ...sorted(fields).map(
      ([name, { presence, shape }]) =>
        `${inner}readonly ${key(name)}${presence === "required" ? "" : "?"}: ${typeOf(shape, inner)}\n`
    ),
    ...(others === undefined
      ? []
      : [`${inner}readonly [key: string]: ${fields.size === 0 ? typeOf(others, inner) : "unknown"}\n`])
  ]
  return `{\n${lines.join("")}${indent}}`
}

/** The type of `vitrine/client` for a file saved beside the document, and the fields that this type has. */
const fileType = ({ fields }: ObjectShape) => {
  const isText = (name: string) => {
    const { presence = "sometimes", shape = {} }: Partial<Field> = fields.get(name) ?? {}
    return presence !== "sometimes" && shape !== "unknown" && JSON.stringify(shape) === '{"string":true}'
  }
  return !isText("localPath") || !isOfSizes(fields.get("sizes")?.shape)
    ? undefined
    : isText("id") && isText("filename")
      ? { name: "Attachment", fields: ofAttachments }
      : { name: "PictureFile", fields: ofFiles }
}

/** Also true if there are no sizes. */
const isOfSizes = (shape: Shape = { list: nothing }): boolean => {
  if (shape === "unknown" || shape.list === undefined || shape.list === "unknown") return false
  return !hasValues(shape.list) || shape.list.object?.fields.has("localPath") === true
}

const ofFiles: ReadonlySet<string> = new Set(["localPath", "sizes"])

/** Omits links of the vendor: they expire after some hours, so that no page can use them. */
const ofAttachments: ReadonlySet<string> = new Set([
  ...["localPath", "sizes", "id", "filename", "size", "type", "width", "height", "url", "thumbnails"]
])

/** Sorted by name, `id` first. */
const sorted = <A>(entries: ReadonlyMap<string, A>): ReadonlyArray<[string, A]> =>
  [...entries].sort(([a], [b]) => (a === b ? 0 : a === "id" || (b !== "id" && a < b) ? -1 : 1))

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name))

/** A quoted text, with invisible characters escaped. */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`
    ).join("")
  )
