/**
 * What is wrong with files that documents name.
 */
import * as Array from "effect/Array"
import * as Schema from "effect/Schema"
import { excerpt, printableLine } from "../../../internal/printable.ts"
import { countText } from "../../../internal/readable.ts"
import { causeWithoutSecrets, OptionalErrorChain } from "../../../internal/SerializedError.ts"
import { type DocumentPath, format } from "./PathPattern.ts"

/** Where something is in the documents of a source. */
export interface Place {
  readonly document: string
  /** Where the document is a table. */
  readonly kind?: "table" | undefined
  /** What identifies the record, where the document is a list of such. */
  readonly record?: string | undefined
}

/** Where a link is; `path` is in the record, or else in the document. */
export interface LinkPlace extends Place {
  readonly path: DocumentPath
}

/** A file cannot be had or written; smaller pictures cannot be made of it; or it is a picture that is not as it should be. */
export class FileProblem extends Schema.TaggedError<FileProblem>()("vitrine/FileProblem", {
  wrong: Schema.Literal("file", "others", "sizes", "picture"),
  /** Its path in the folder of the source, or the name of a table. */
  document: Schema.String,
  kind: Schema.optional(Schema.Literal("table")),
  record: Schema.optional(Schema.String),
  /** Where in the record or the document the file is named. */
  field: Schema.String,
  /** What it is called there, its path in the folder of the source, or that of the link: links may be signed, and are in no message. */
  file: Schema.optional(Schema.String),
  /** What happened. No more of an address than its origin is in it. */
  detail: Schema.String,
  /** Whether another try may succeed later without anybody doing something. */
  isTransient: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  cause: OptionalErrorChain
}) {
  override get message() {
    return `${placeText(this)}: ${texts[this.wrong].one(this.file === undefined ? "" : ` ${quoted(this.file)}`)}: ${this.detail}`
  }

  get place(): string {
    return `${placeText(this)}${this.file === undefined ? "" : ` (${quoted(this.file)})`}`
  }

  /** Without secrets, also in its cause. An error has no cause where its fields are spread. */
  hidden(hide: (text: string) => string): FileProblem {
    const { cause, field, file, record } = this
    return new FileProblem({
      ...this,
      record: record && hide(record),
      field: hide(field),
      file: file && hide(file),
      cause: causeWithoutSecrets(cause, hide)
    })
  }
}

const texts = {
  file: {
    one: (file: string) => `the file${file} cannot be saved`,
    several: (count: number) => `${countText(count, "file")} cannot be saved`
  },
  others: {
    one: (file: string) => `the file${file} names other files`,
    several: (count: number) => `${countText(count, "file")} name other files`
  },
  sizes: {
    one: (file: string) => `the sizes of the picture${file} cannot be made`,
    several: (count: number) => `The sizes of ${countText(count, "picture")} cannot be made`
  },
  picture: {
    one: (file: string) => `the picture${file} is not as it should be`,
    several: (count: number) => `${countText(count, "picture")} are not as they should be`
  }
}

const quoted = (text: string): string => JSON.stringify(excerpt(text))

/** `Document "events.json", record 12, field "image.url"` */
export const placeText = ({ document, field, kind, record }: Place & { readonly field?: string }): string =>
  [
    `${kind === "table" ? "Table" : "Document"} ${quoted(document)}`,
    ...(record === undefined ? [] : [`record ${printableLine(record, 80)}`]),
    ...(field === undefined ? [] : [`field ${quoted(field)}`])
  ].join(", ")

type Fields = ConstructorParameters<typeof FileProblem>[0]

/** The problem with a file that is named at a place. */
export const problemAt = (
  { path, ...place }: LinkPlace,
  problem: Omit<Fields, "document" | "field" | "kind" | "record">
): FileProblem => new FileProblem({ ...place, field: format(path), ...problem })

/** In how many places something is wrong, before the others are only counted. */
const maxPlaces = 3

/** Problems as warnings: one for each reason. */
export const warningsOf = (problems: ReadonlyArray<FileProblem>): ReadonlyArray<string> =>
  Object.values(
    Array.groupBy(
      // A picture that is cut in several ways has failed as often.
      new Map(problems.map((problem) => [problem.message, problem])).values(),
      ({ detail, wrong }) => `${wrong} ${detail}`
    )
  ).map((same) => {
    const [first] = same
    if (same.length === 1) return first.message
    const places = same.slice(0, maxPlaces).map(({ place }) => place)
    const more = same.length - places.length
    const what = `${texts[first.wrong].several(same.length)}: ${first.detail}`
    return `${what.replace(/\.$/, "")}. ${[...places, ...(more > 0 ? [`and ${more} more`] : [])].join("; ")}`
  })
