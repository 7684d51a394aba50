/**
 * Why media are not on disk.
 */
import * as Array from "effect/Array"
import * as Schema from "effect/Schema"
import { excerpt, printableLine } from "../../../internal/printable.ts"
import { countText } from "../../../internal/readable.ts"
import { OptionalErrorChain } from "../../../internal/SerializedError.ts"

/** A file that a document names cannot be had, or cannot be written. */
export class FileNotSaved extends Schema.TaggedError<FileNotSaved>()("vitrine/FileNotSaved", {
  /** Its path in the folder of the source, or the name of a table. */
  document: Schema.String,
  /** Where the document is a table. */
  kind: Schema.optional(Schema.Literal("table")),
  /** What identifies the record, where the document is a list of such. */
  record: Schema.optional(Schema.String),
  /** Where in the record or the document it is named. */
  field: Schema.String,
  /** What it is called there, or the path of the link, where it has one. Links may be signed: their query is in no message. */
  file: Schema.optional(Schema.String),
  /** What happened. No more of an address than its origin is in it. */
  detail: Schema.String,
  /** Whether another try may succeed later without anybody doing something. */
  isTransient: Schema.Boolean,
  cause: OptionalErrorChain
}) {
  override get message() {
    const file = this.file === undefined ? "" : ` ${JSON.stringify(excerpt(this.file))}`
    return `${placeText(this)}: the file${file} cannot be saved: ${this.detail}`
  }

  get place(): string {
    return `${placeText(this)}${this.file === undefined ? "" : ` (${JSON.stringify(excerpt(this.file))})`}`
  }

  /** What has happened to so many. */
  severally(count: number): string {
    return `${countText(count, "file")} cannot be saved: ${this.detail}`
  }
}

const pictureFields = {
  /** Its path in the folder of the source. */
  document: Schema.String,
  /** What identifies the record, where the document is a list of such. */
  record: Schema.optional(Schema.String),
  /** Where in the record or the document the picture is. */
  field: Schema.String,
  /** The path of the picture in the folder of the source. */
  localPath: Schema.String,
  /** Why, as a sentence for people. */
  detail: Schema.String
}

/** Smaller pictures of a picture cannot be made: it is broken, takes too long, or they cannot be written. */
export class SizesNotMade extends Schema.TaggedError<SizesNotMade>()("vitrine/SizesNotMade", pictureFields) {
  override get message() {
    return `${placeText(this)}: the sizes of the picture ${JSON.stringify(this.localPath)} cannot be made: ${this.detail}`
  }

  get place(): string {
    return pictureText(this)
  }

  /** What has happened to so many. */
  severally(count: number): string {
    return `The sizes of ${countText(count, "picture")} cannot be made: ${this.detail}`
  }

  get isTransient(): boolean {
    return false
  }
}

/** The decoder warns of a picture whose sizes are made nevertheless. */
export class PictureFlawed extends Schema.TaggedClass<PictureFlawed>()(
  "vitrine/PictureFlawed",
  pictureFields
) {
  get message() {
    return `${placeText(this)}: the picture ${JSON.stringify(this.localPath)} is not as it should be: ${this.detail}`
  }

  get place(): string {
    return pictureText(this)
  }

  /** The message for this number of errors. */
  severally(count: number): string {
    return `${countText(count, "picture")} are not as they should be: ${this.detail}`
  }
}

const pictureText = (picture: Place & { readonly localPath: string }): string =>
  `${placeText(picture)} (${JSON.stringify(picture.localPath)})`

/** Where something is in the documents of a source. */
export interface Place {
  readonly document: string
  /** Where the document is a table. */
  readonly kind?: "table" | undefined
  readonly record?: string | undefined
  readonly field?: string
}

/** `Document "events.json", record 12, field "image.url"` */
export const placeText = ({ document, field, kind, record }: Place): string =>
  [
    `${kind === "table" ? "Table" : "Document"} ${JSON.stringify(excerpt(document))}`,
    ...(record === undefined ? [] : [`record ${printableLine(record, 80)}`]),
    ...(field === undefined ? [] : [`field ${JSON.stringify(excerpt(field))}`])
  ].join(", ")

/** In how many places something is wrong, before the others are only counted. */
const maxPlaces = 3

/** Warnings of what may be missing, or is flawed: one for each reason. */
export const warningsOf = (
  errors: ReadonlyArray<FileNotSaved | SizesNotMade | PictureFlawed>
): ReadonlyArray<string> =>
  Object.values(
    Array.groupBy(
      // A picture that is cut in several ways has failed as often.
      new Map(errors.map((error) => [error.message, error])).values(),
      ({ _tag, detail }) => `${_tag} ${detail}`
    )
  ).map((same) => {
    const [first] = same
    if (same.length === 1) return first.message
    const places = same.slice(0, maxPlaces).map(({ place }) => place)
    const more = same.length - places.length
    return `${first.severally(same.length).replace(/\.$/, "")}. ${[...places, ...(more > 0 ? [`and ${more} more`] : [])].join("; ")}`
  })
