/**
 * Content systems such as Strapi and Directus: options, requests with a token, complete collections, errors.
 *
 * A vendor is a description, read by one reader: what to request, what a response means, what is published, the
 * languages, the files, and what to do about a refusal.
 */
import * as UrlParams from "@effect/platform/UrlParams"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { constFalse } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { expects, omittable, optional } from "../../internal/Options.ts"
import { ifUnset, isHttpBase, secret } from "../../internal/optionSchemas.ts"
import { excerpt } from "../../internal/printable.ts"
import { SourceError } from "../../services/SourceError.ts"
import { passes } from "../httpClient/httpFailure.ts"
import type { RequestFailed } from "../httpClient/Requests.ts"
import { Value } from "./Document.ts"
import { DocumentOptions } from "./DocumentOptions.ts"
import * as DocumentSource from "./DocumentSource.ts"
import { type JsonObject, mapObjects, mapParts } from "./jsonValues.ts"
import { fileFieldsOfReader } from "./media/MediaOptions.ts"
import type { MediaReader } from "./media/placeMedia.ts"
import { makeRequests, redirectAdvice } from "./readText.ts"
import { noticeCounted, warn } from "./warnings.ts"
import { isLast, ListChanged, type ListProgress, readList } from "./wholeList.ts"

/** A text that is not empty. */
export const filled = (what: string) => expects(Schema.NonEmptyString, what)

/** `what` is the system's own name for the token. */
export const token = (what: string) =>
  omittable(
    secret(
      (token) => /^[\x21-\x7e]+$/.test(token),
      `${what}: printable ASCII characters without spaces ${ifUnset}`
    )
  )

/** An object by the names of collections, with at least one collection. */
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

/** `path` is another part of the server, which a user often adds to the address by mistake: it is removed. */
export const cmsFields = (vendor: {
  readonly path: string
  readonly token: string
  readonly locale: string
}) => {
  const suffix = new RegExp(`(?<!/)(?:/+${vendor.path})?/*$`)
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
    locales: optional(expects(Schema.Array(filled(vendor.locale)), "an array of languages"), [])
  }
}

/** The decoded options of every content system. */
export type CmsOptions = Schema.Struct.Type<ReturnType<typeof cmsFields>>

/** The system's error for a refused request: of any length, and empty if the response has no text. */
export interface Refusal {
  /** Its name for the mistake, as in `FORBIDDEN`; empty if the response is not an error of this system. */
  readonly name: string
  readonly message: string
  /** The subject of the mistake, and the parameter with the mistake. */
  readonly key?: string
  readonly param?: string
}

/** How a system is named, and how it refuses requests. */
interface System {
  readonly name: string
  /** The path of its collections below "url". */
  readonly path: string
  /** Describes a valid "url", for messages. */
  readonly address: string
  /** The option for collections, and the name of the items of a collection. */
  readonly option: string
  readonly items: string
  /** The remedy for a refusal, if this server has a special one. */
  readonly advice: (
    collection: string,
    status: number,
    hasToken: boolean,
    refusal: Refusal
  ) => string | undefined
  readonly readRefusal: (body: unknown) => Refusal
}

/** The items of an edition, such as a language. */
export type Editions<Edition> = ReadonlyArray<{
  readonly edition: Edition
  readonly items: ReadonlyArray<JsonObject>
}>

/** A content system as a description. `Query` is what the options say of a collection. */
export interface Vendor<Query, Options extends CmsOptions, Edition> extends System {
  /** The queries of the options, by the names of collections. */
  readonly queries: (options: Options) => Readonly<Record<string, Query>>
  /** The field that identifies an item. */
  readonly keyOf: (query: Query) => string
  /** Begins a fetch. Returns the function that finds the editions of a collection to read. */
  readonly begin: (
    ask: Ask,
    options: Options
  ) => Effect.Effect<(collection: string) => Effect.Effect<ReadonlyArray<Edition>, SourceError>>
  /** What to ask for a page. */
  readonly page: (query: Query, edition: Edition, progress: ListProgress) => Parameters
  readonly readAnswer: (body: unknown) => CollectionAnswer
  /** Whether the server may count and send an item more than once. Default false. */
  readonly mayRepeatItems?: (query: Query) => boolean
  /** Whether each page except the first begins with the last item of the page before. Default false. */
  readonly overlaps?: boolean
  /** The list of published items, each with all its languages. */
  readonly merge: (editions: Editions<Edition>, query: Query, options: Options) => Effect.Effect<unknown>
  /** An object as it is saved. */
  readonly saved: (object: JsonObject, url: string) => JsonObject
  /** Reads an object as a file; `None` for other objects. */
  readonly readFile: (url: string) => MediaReader
  readonly settings?: (
    options: Options
  ) => Pick<DocumentSource.DocumentSource<SourceError, never>, "lasting" | "serverHeaders">
}

/** The error for a response that this system would not send. */
export const strange = (
  { address, name }: Pick<System, "address" | "name">,
  collection: string,
  detail: string
) =>
  new SourceError({
    detail: `The response of "url" for ${collection} is not from ${name}: ${detail}. Check "url", ${address}`
  })

/** The error for a response with an error status. */
export const refused = (
  { advice, name }: Pick<System, "advice" | "name">,
  collection: string,
  status: number,
  hasToken: boolean,
  refusal: Refusal,
  cause?: RequestFailed
) => {
  const general = passes(status) ? `${name} fails` : `${name} does not give ${collection}`
  const words = [refusal.name, refusal.message].filter((part) => part !== "").join(": ")
  return new SourceError({
    detail: refusalText(advice(collection, status, hasToken, refusal) ?? general, status, words),
    status,
    isTransient: passes(status),
    cause
  })
}

/** The advice, with the status and the message of the server. */
export const refusalText = (advice: string, status: number, words: string): string =>
  `${advice} (HTTP ${status}${words === "" ? "" : `, ${excerpt(words)}`})`

/** The headers with the token of the source. */
export const credentials = (token: CmsOptions["token"]): Readonly<Record<string, Redacted.Redacted>> =>
  token === undefined ? {} : { authorization: Redacted.make(`Bearer ${Redacted.value(token)}`) }

/** The parameters of a request; a name may come several times. */
export type Parameters = ReadonlyArray<readonly [name: string, value: string]>

/** Requests the content of a collection, or what is at another path of the server. */
export type Ask = (
  collection: string,
  parameters: Parameters,
  path?: string
) => Effect.Effect<unknown, SourceError>

/** Makes the requests of a source. */
export const makeAsk = (
  vendor: System,
  { maxBytes, maxTimeout, token, url }: Pick<CmsOptions, "maxBytes" | "maxTimeout" | "token" | "url">
) =>
  Effect.map(makeRequests({ maxBytes, maxTimeout, urls: [url] }), ({ getJson }) => {
    const headers = Record.map(credentials(token), Redacted.value)

    const failed = (collection: string, error: RequestFailed) => {
      const { isTransient, message, said, status } = error
      const redirected = token === undefined ? undefined : redirectAdvice(url, "token", error)
      if (redirected !== undefined || status === undefined) {
        return new SourceError({ detail: redirected ?? message, isTransient })
      }
      const refusal = vendor.readRefusal(said)
      return refusal.name === "" && !isTransient
        ? strange(vendor, collection, `HTTP ${status}, and none of its errors`)
        : refused(vendor, collection, status, token !== undefined, refusal, error)
    }

    const ask: Ask = (collection, parameters, path = vendor.path) => {
      const query = UrlParams.toString(UrlParams.fromInput(parameters))
      return Effect.mapBoth(getJson(`${url}/${path}/${collection}?${query}`, headers), {
        onFailure: (error) => failed(collection, error),
        onSuccess: ({ json }) => json
      })
    }
    return ask
  })

/**
 * Leaves out what is unpublished in a value, at any depth, with a warning that has the number: from lists, and as `null`
 * elsewhere.
 */
export const withoutUnpublished = (
  value: unknown,
  isUnpublished: (object: JsonObject) => boolean
): Effect.Effect<unknown> =>
  Effect.suspend(() => {
    let count = 0
    const isOut = (part: unknown): boolean => Predicate.isReadonlyRecord(part) && isUnpublished(part)
    const published = (part: unknown): unknown => {
      if (isOut(part)) {
        count++
        return null
      }
      if (!Array.isArray(part)) return mapParts(part, published)
      const kept = part.some(isOut) ? part.filter(Predicate.not(isOut)) : part
      count += part.length - kept.length
      return mapParts(kept, published)
    }
    const left = published(value)
    return Effect.as(count === 0 ? Effect.void : noticeUnpublished(count), left)
  })

const noticeUnpublished = (count: number) =>
  noticeCounted([
    {
      about: "unpublished",
      count,
      warning: (count) => warn("records:unpublished", "", { count })
    }
  ])

/**
 * A page of a collection, the one item of a value that is no collection, or a description of an unexpected response.
 */
export type CollectionAnswer =
  | {
      readonly kind: "page"
      readonly items: ReadonlyArray<JsonObject>
      readonly total: number
      /** How many pages there are, if the system says it. */
      readonly pages?: number
      /** How many items come on a page. */
      readonly size: number
    }
  | { readonly kind: "single"; readonly item: JsonObject }
  | { readonly kind: "strange"; readonly detail: string }

interface Position {
  readonly page: number
  /** The last item of the page before. */
  readonly last: JsonObject | undefined
}

/** All items of an edition, each once; or the one item of a value that is no collection. */
export const readEdition = <Query, Options extends CmsOptions, Edition>(
  vendor: Vendor<Query, Options, Edition>,
  ask: Ask,
  name: string,
  query: Query,
  edition: Edition
) =>
  Effect.gen(function* () {
    const { mayRepeatItems = constFalse, option, overlaps = false } = vendor
    const key = vendor.keyOf(query)
    let isSingle = false
    let missing: SourceError | undefined

    const askPage = Effect.fnUntraced(function* ({ last, page }: Position, progress: ListProgress) {
      const found = yield* Effect.either(ask(name, vendor.page(query, edition, progress)))
      if (Either.isLeft(found)) {
        if (found.left.status !== 404) return yield* found.left
        if (page > 1) return yield* new ListChanged({ list: name, detail: `page ${page} is gone (HTTP 404)` })
        // The item of a collection may be missing in some languages.
        missing = found.left
        return { items: [], next: Option.none() }
      }
      const answer = vendor.readAnswer(found.right)
      if (answer.kind === "strange") {
        return yield* strange(vendor, name, answer.detail)
      }
      if (answer.kind === "single") {
        isSingle = true
        return { items: [answer.item], next: Option.none() }
      }
      if (!answer.items.every((item) => Predicate.isString(item[key]) || Predicate.isNumber(item[key]))) {
        return yield* new SourceError({
          detail: `An item of ${name} has no "${key}". Set "${option}.${name}.key" to its primary key`
        })
      }
      // Otherwise, items before it were added or removed, and some items would be missing.
      if (overlaps && last !== undefined && answer.items[0]?.[key] !== last[key]) {
        return yield* new ListChanged({ list: name, detail: "items came or went between its pages" })
      }
      const items = overlaps && last !== undefined ? answer.items.slice(1) : answer.items
      const { firstItems: firstRecords, number } = progress
      const records = answer.items.length
      const read = progress.read + items.length
      const isEnd =
        items.length === 0 || isLast({ ...answer, number, records, firstRecords, read }, answer.size)
      const next = Option.some({ page: page + 1, last: items.at(-1) })
      return { items, total: answer.total, next: isEnd ? Option.none() : next }
    })

    const pages = readList<Position, JsonObject, SourceError | ListChanged>({
      name,
      first: { page: 1, last: undefined },
      ask: askPage,
      placeOf: ({ page }) => String(page),
      idOf: (item) => Option.some(String(item[key])),
      mayRepeatItems: mayRepeatItems(query),
      mistake: (detail) => strange(vendor, name, detail),
      firstAgain: `it has the ${vendor.items} of page 1 again`
    })
    const items = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.flattenIterables(pages)))
    return { edition, items, isSingle, missing }
  })

/** Makes the source of a content system: each collection is a document, a list of its items or its one item. */
export const makeSource = <Query, Options extends CmsOptions, Edition>(
  vendor: Vendor<Query, Options, Edition>
) =>
  Effect.fnUntraced(function* (options: Options) {
    const { url } = options
    const ask = yield* makeAsk(vendor, options)

    const documentOf = (
      editionsOf: Effect.Effect.Success<ReturnType<typeof vendor.begin>>,
      [name, query]: readonly [string, Query]
    ) => {
      const value = Effect.gen(function* () {
        const read = yield* Effect.forEach(yield* editionsOf(name), (edition) =>
          readEdition(vendor, ask, name, query, edition)
        )
        const missing = read.flatMap(({ missing = [] }) => missing)
        if (missing[0] !== undefined && missing.length === read.length) return yield* missing[0]
        const items = yield* vendor.merge(read, query, options)
        const saved = [mapObjects(items, (object) => vendor.saved(object, url))].flat()
        return read.some(({ isSingle }) => isSingle) ? (saved[0] ?? null) : saved
      })
      return {
        name,
        key: [vendor.keyOf(query)],
        url: `${url}/${vendor.path}/${name}`,
        content: Value({ value })
      }
    }

    return yield* DocumentSource.make({
      ...vendor.settings?.(options),
      options,
      url,
      open: () =>
        Effect.map(vendor.begin(ask, options), (editionsOf) => ({
          documents: Object.entries(vendor.queries(options)).map((entry) => documentOf(editionsOf, entry)),
          reader: vendor.readFile(url)
        }))
    })
  })
