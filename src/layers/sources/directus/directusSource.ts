/**
 * A source of Directus' content: each collection is a document.
 *
 * ```
 * <source id>/<collection>.json    the items of a collection, or the item of a singleton
 * <source id>/media/               the files of these items
 * ```
 *
 * Directus is a description for `cms.ts`: its query strings, its responses, its refusals, its rights, its files, which
 * are found if `fields` lead to them.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import { SourceError } from "../../../services/SourceError.ts"
import {
  type Ask,
  type CollectionAnswer,
  credentials,
  makeSource,
  type Parameters,
  type Refusal,
  type Vendor
} from "../../documents/cms.ts"
import { define } from "../../documents/DocumentOptions.ts"
import { type JsonObject, property } from "../../documents/jsonValues.ts"
import type { MediaObject } from "../../documents/media/placeMedia.ts"
import { notice, warn } from "../../documents/warnings.ts"
import { type Collection, DirectusOptions, type DirectusSourceConfig } from "./DirectusOptions.ts"
import { inLanguages, translationsField } from "./languages.ts"

/**
 * A source of content for the content plugin's `sources`: the collections of a Directus, each as a document.
 *
 * @since 0.1.0
 * @category constructors
 */
export const directusSource = (config: DirectusSourceConfig): ContentSourceDefinition =>
  define("the Directus source", DirectusOptions, config, makeSource(directus))

const Item = Schema.declare(Predicate.isReadonlyRecord)

/** With PostgreSQL, counts of rows are texts. */
const Count = Schema.Union(Schema.NonNegativeInt, Schema.NumberFromString.pipe(Schema.nonNegative()))

/** The length of a page of a server with default settings. */
const pageSize = 100

const decodeAnswer = Schema.decodeUnknownOption(
  Schema.Union(
    Schema.Struct({ data: Schema.Array(Item), meta: Schema.Struct({ filter_count: Count }) }),
    Schema.Struct({ data: Item })
  )
)

const readAnswer = (body: unknown): CollectionAnswer =>
  Option.match(decodeAnswer(body), {
    onNone: () => ({
      kind: "strange",
      detail: 'it has no items in "data", or does not say how many there are'
    }),
    onSome: (answer) =>
      "meta" in answer
        ? { kind: "page", items: answer.data, total: answer.meta.filter_count, size: pageSize }
        : { kind: "single", item: answer.data }
  })

const decodeErrors = Schema.decodeUnknownOption(
  Schema.Struct({
    errors: Schema.NonEmptyArray(
      Schema.Struct({ message: Schema.String, extensions: Schema.Struct({ code: Schema.String }) })
    )
  })
)

const readRefusal = (body: unknown): Refusal =>
  Option.match(decodeErrors(body), {
    onNone: () => ({ name: "", message: "" }),
    onSome: ({ errors: [{ extensions, message }] }) => ({
      // Without a name, the message says to check "url": it leads to another part of Directus.
      name: extensions.code === "ROUTE_NOT_FOUND" ? "" : extensions.code,
      message
    })
  })

/** Texts are sent without changes, lists with commas, objects as JSON. */
const parameters = (input: JsonObject): Parameters =>
  Object.entries(input).flatMap(
    ([name, value]): Parameters =>
      value === undefined
        ? []
        : [[name, Predicate.isReadonlyRecord(value) ? JSON.stringify(value) : String(value)]]
  )

/**
 * Tells whether a collection has a field. Directus gives the same error for a field that is not there and for one that
 * the token may not read: `hidden` says that the token may read certain other fields only, and `unknown` that it may not
 * read its rights either.
 */
const makeAskField = (ask: Ask) =>
  Effect.map(
    Effect.cached(
      Effect.catchIf(
        ask("me", [], "permissions"),
        ({ isTransient }) => isTransient !== true,
        () => Effect.succeed(undefined)
      )
    ),
    (rights) =>
      Effect.fnUntraced(function* (name: string, field: string) {
        const found = yield* Effect.either(ask(name, parameters({ fields: field, limit: 1 })))
        if (Either.isRight(found)) return "there"
        if (found.left.status !== 403) return yield* found.left
        const fields = property(property(property(property(yield* rights, "data"), name), "read"), "fields")
        if (!Array.isArray(fields)) return "unknown"
        return fields.includes("*") || fields.includes(field) ? "missing" : "hidden"
      })
  )

const allow = 'in Directus, Settings, Access Policies, allow "read" of'

/** What is asked of a collection. */
interface Edition {
  /** The statuses of the items; empty for all. */
  readonly status: ReadonlyArray<string>
  readonly hasLanguages: boolean
}

const begin = (ask: Ask, { locales, status: named, status = ["published"] }: DirectusOptions) =>
  Effect.map(makeAskField(ask), (askField) =>
    Effect.fnUntraced(function* (name: string) {
      const languages = locales.length > 0 ? yield* askField(name, translationsField) : undefined
      if (languages === "hidden") {
        yield* notice([warn("rights:translations", translationsField, { collection: name })])
      }
      const found = status.length > 0 ? yield* askField(name, "status") : undefined
      if (found === "hidden" && named !== undefined) {
        return yield* new SourceError({
          detail: `The token may not read the field "status" of ${name}, which "status" asks for: ${allow} "status", or of all fields if there is none`
        })
      }
      if (found === "hidden" || found === "unknown") {
        yield* notice([warn("rights:status", "status", { collection: name })])
      }
      return [{ hasLanguages: languages === "there", status: found === "there" ? status : [] }]
    })
  )

/** The fields of the options, with all translations or at least their languages. */
const fieldsOf = ({ fields, key }: Collection, { hasLanguages }: Edition): ReadonlyArray<string> => {
  const part = fields.some((field) => field.startsWith(`${translationsField}.`)) ? "languages_code" : "*"
  return [...fields, key, ...(hasLanguages ? [`${translationsField}.${part}`] : [])]
}

export const directus: Vendor<Collection, DirectusOptions, Edition> = {
  name: "Directus",
  path: "items",
  address: "the address of the server",
  option: "collections",
  items: "items",
  queries: ({ collections }) => collections,
  keyOf: ({ key }) => key,
  begin,
  // Sorted by the key last, because equal values have no order. No `limit` is sent, because a server may have a lower
  // maximum than its default.
  page: (collection, edition, { read }) =>
    parameters({
      fields: fieldsOf(collection, edition),
      filter: {
        _and: [
          ...(edition.status.length === 0 ? [] : [{ status: { _in: edition.status } }]),
          ...(collection.filter ? [collection.filter] : [])
        ]
      },
      sort: [...collection.sort, collection.key],
      deep: collection.deep,
      meta: "filter_count",
      offset: Math.max(read - 1, 0)
    }),
  readAnswer,
  overlaps: true,
  merge: inLanguages,
  // A file without a URL gets its address.
  saved: (object, url) => (isFile(object) ? { url: assetUrl(url, object.id), ...object } : object),
  readFile: (url) => readFile(url),
  settings: ({ token }) => ({ serverHeaders: credentials(token) }),
  readRefusal,
  advice: (collection, status, hasToken) => {
    switch (status) {
      case 400:
        return `Directus does not understand the request for ${collection}. Check "collections.${collection}"`
      case 401:
        return 'Directus does not accept the token. Check "token": in Directus, User Directory, make a new token for the user, whose status must be "Active", and save'
      case 403:
        return hasToken
          ? `The token may not read ${collection}, or it lacks a field of "collections.${collection}": ${allow} it, of the collections of its relations, and of "Directus Files"`
          : `Without a token, ${collection} may not be read, or it lacks a field of "collections.${collection}": set "token", or in Directus, Settings, Access Policies, Public, allow "read" of it`
      default:
        return undefined
    }
  }
}

const isFile = Schema.is(Schema.Struct({ id: Schema.UUID, filename_download: Schema.String }))

/** With PostgreSQL, large integers are texts. */
const sizeOf = Schema.decodeUnknownOption(
  Schema.Struct({ filesize: Schema.Union(Schema.Int, Schema.NumberFromString.pipe(Schema.int())) })
)

const length = Schema.Number.pipe(Schema.greaterThan(0))

/** In pixels of the upright picture. */
const FocalPoint = Schema.Struct({
  focal_point_x: Schema.NonNegative,
  focal_point_y: Schema.NonNegative,
  width: length,
  height: length
})

const hasFocalPoint = Schema.is(FocalPoint)

const assetUrl = (server: string, id: string): string => `${server}/assets/${id}`

/** Reads an object of an item as a file; `None` for other objects. */
export const readFile =
  (server: string) =>
  (object: JsonObject): Option.Option<MediaObject> => {
    if (!isFile(object)) return Option.none()
    const { filename_download: name, id } = object
    const size = Option.getOrUndefined(sizeOf(object))?.filesize
    const modified = property(object, "modified_on")
    return Option.some({
      url: assetUrl(server, id),
      name,
      size,
      // A replaced file keeps its id. Only its date and its size change.
      version:
        size !== undefined && Predicate.isString(modified) ? [id, modified, size].join(" ") : undefined,
      focus: hasFocalPoint(object) ? focusOf(object) : undefined
    })
  }

const focusOf = ({
  focal_point_x: x,
  focal_point_y: y,
  height,
  width
}: typeof FocalPoint.Type): MediaObject["focus"] =>
  x <= width && y <= height ? { x: x / width, y: y / height } : undefined
