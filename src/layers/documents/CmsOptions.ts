/**
 * What sources of content management systems have in common, as options.
 */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expects, omittable, optional } from "../../internal/Options.ts"
import { ifUnset, isHttpBase, secret } from "../../internal/optionSchemas.ts"
import { DocumentOptions } from "./DocumentOptions.ts"
import { fileFieldsOfReader } from "./media/MediaOptions.ts"

/** A text that says something. */
export const filled = (what: string) => expects(Schema.NonEmptyString, what)

/** `what` is the token as the system calls it. */
export const token = (what: string) =>
  omittable(
    secret(
      (token) => /^[\x21-\x7e]+$/.test(token),
      `${what}: printable ASCII characters without spaces ${ifUnset}`
    )
  )

/** An object by the names of collections, at least one of them. */
export const collections = <A, I>(
  value: Schema.Schema<A, I>,
  { isName, what, wrongName }: { readonly isName: RegExp; readonly what: string; readonly wrongName: string }
) =>
  expects(Schema.Record({ key: Schema.String, value }), `an object with what to save of each ${what}`).pipe(
    Schema.filter((collections) =>
      Object.keys(collections).length === 0
        ? [`expected at least one ${what}, such as "articles"`]
        : Object.keys(collections)
            .filter((name) => !isName.test(name))
            .map((name) => ({ path: [name], message: `expected ${wrongName}, such as "articles"` }))
    )
  )

/** `path` is that of something else at the server: a likely mistake that says the same. */
export const cmsFields = (vendor: {
  readonly path: string
  readonly token: string
  readonly locale: string
}) => {
  const locale = filled(vendor.locale)
  const suffix = new RegExp(`(?:/+${vendor.path})?/*$`)
  return {
    ...DocumentOptions.fields,
    ...fileFieldsOfReader,
    url: Schema.transform(
      expects(
        Schema.String.pipe(Schema.filter(isHttpBase)),
        'an http or https address without credentials, query or fragment, such as "https://cms.museum.example"'
      ),
      Schema.String,
      { strict: true, decode: (url) => url.replace(suffix, ""), encode: (url) => url }
    ),
    token: token(vendor.token),
    locales: optional(expects(Schema.Array(locale), "an array of languages"), []),
    fallback: omittable(locale)
  }
}

/** The options that all of them have, decoded. */
export interface CmsOptions {
  readonly maxBytes: number
  readonly maxTimeout: number
  readonly url: string
  readonly token?: Redacted.Redacted | undefined
  readonly locales: ReadonlyArray<string>
  readonly fallback?: string
}

/** What must hold of several of them. */
export const fallbackNeedsLocales = ({ fallback, locales }: Pick<CmsOptions, "fallback" | "locales">) =>
  fallback !== undefined && locales.length === 0
    ? { path: ["fallback"], message: 'expected "locales" beside it: the languages that it stands in for' }
    : undefined
