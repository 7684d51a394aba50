/**
 * The options of a function as a source.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { expects, omittable, optional } from "../../../internal/Options.ts"
import { type DocumentConfig, DocumentOptions, Keys } from "../../documents/DocumentOptions.ts"
import type { SourceContext } from "./FunctionContext.ts"

/** A value, or the records of a long document one after the other. */
type DocumentInput = unknown | AsyncIterable<unknown>

/** The options as a user writes them. */
export interface SourceConfig extends DocumentConfig {
  /**
   * Returns the documents by their names: values, or async iterables of records. Each is saved as
   * `<id>/<name>.json`. It has ten minutes, and ten minutes for each record of an async iterable.
   */
  readonly fetch: (
    context: SourceContext
  ) => Promise<Readonly<Record<string, DocumentInput>>> | Readonly<Record<string, DocumentInput>>

  /**
   * The field, or fields, that identify the records of a document, by its name; paths with dots. Default
   * `{}` (their id).
   */
  readonly keys?: Readonly<Record<string, string | ReadonlyArray<string>>> | undefined

  /**
   * Returns a text that changes with the content, such as a date; `fetch` is called only when it has
   * changed. Default none: `fetch` is called at each tick.
   */
  readonly poll?: ((context: Pick<SourceContext, "get" | "signal">) => Promise<string> | string) | undefined
}

type Fetch = SourceConfig["fetch"]
export type Poll = NonNullable<SourceConfig["poll"]>

export const SourceOptions = Schema.Struct({
  ...DocumentOptions.fields,
  fetch: expects(
    Schema.declare((input): input is Fetch => Predicate.isFunction(input)),
    "a function that gives documents by their names"
  ),
  keys: optional(Keys, {}),
  poll: omittable(
    expects(
      Schema.declare((input): input is Poll => Predicate.isFunction(input)),
      "a function that gives a text"
    )
  )
})
export type SourceOptions = typeof SourceOptions.Type
