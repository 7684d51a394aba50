/**
 * The options of a source of shelves, and what each must be.
 */
import { Schema } from "effect"
import { DocumentSource } from "vitrine"

/** Each shelf is a document: its items as records, with their key as `id`. */
export interface ShelfSourceConfig extends DocumentSource.Config {
  /** The address of the server, such as `"https://shelves.example"`. */
  readonly url: string
  /** Sent to `url` only, and never shown. */
  readonly token: string
  /** The names of the shelves to save. */
  readonly shelves: ReadonlyArray<string>
}

const message = (text: string) => ({ message: () => text })

export const ShelfOptions = Schema.Struct({
  ...DocumentSource.Options.fields,
  url: Schema.String.pipe(Schema.pattern(/^https?:\/\/[^/?#@]+$/)).annotations(
    message('expected the address of a server, such as "https://shelves.example"')
  ),
  token: Schema.Redacted(
    Schema.String.pipe(Schema.pattern(/^[\x21-\x7e]+$/)).annotations(
      message("expected a token (is the environment variable set?)")
    )
  ),
  shelves: Schema.Array(Schema.NonEmptyString)
    .pipe(Schema.minItems(1))
    .annotations(message('expected an array of names of shelves, such as ["Books"]'))
})
export type ShelfOptions = typeof ShelfOptions.Type
