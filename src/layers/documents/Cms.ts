/**
 * Common parts of content systems such as Strapi and Directus: options, requests with a token, complete collections,
 * errors.
 *
 * A vendor defines what to request, what a response means, and what to do about a refusal.
 */
import * as UrlParams from "@effect/platform/UrlParams"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { expects, omittable, optional } from "../../internal/Options.ts"
import { ifUnset, isHttpBase, secret } from "../../internal/optionSchemas.ts"
import { excerpt } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"
import { SourceError } from "../../services/SourceError.ts"
import { note } from "../../services/Warning.ts"
import { passes } from "../httpClient/httpFailure.ts"
import type { RequestFailed } from "../httpClient/Requests.ts"
import { DocumentOptions } from "./DocumentOptions.ts"
import { type JsonObject, mapParts } from "./jsonValues.ts"
import { fileFieldsOfReader } from "./media/MediaOptions.ts"
import { makeRequests, redirectAdvice } from "./readText.ts"
import { noticeCounted } from "./warnings.ts"
import { isLast, type List, type ListChanged, type ListProgress, readList } from "./wholeList.ts"

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
export interface CmsOptions {
  readonly maxBytes: number
  readonly maxTimeout: number
  readonly url: string
  readonly token?: Redacted.Redacted | undefined
  readonly locales: ReadonlyArray<string>
}

/** The system's error for a refused request: of any length, and empty if the response has no text. */
export interface Refusal {
  /** Its name for the mistake, as in `FORBIDDEN`; empty if the response is not an error of this system. */
  readonly name: string
  readonly message: string
  /** The subject of the mistake, and the parameter with the mistake. */
  readonly key?: string
  readonly param?: string
}

/** The parts that each vendor defines. */
export interface Vendor {
  readonly name: string
  /** The path of its collections below "url". */
  readonly path: string
  /** Describes a valid "url", for messages. */
  readonly address: string
  /** The option for collections, the option of a collection that limits its items, and the name of its items. */
  readonly option: string
  readonly filter: string
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

/** The error for a response that this system would not send. */
export const strange = ({ address, name }: Vendor, collection: string, detail: string) =>
  new SourceError({
    detail: `The response of "url" for ${collection} is not from ${name}: ${detail}. Check "url", ${address}`
  })

/** The error for a response with an error status. */
export const refused = (
  { advice, name }: Vendor,
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
  vendor: Vendor,
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
      ...note(""),
      about: "unpublished",
      count,
      text: (count) =>
        `${countText(count, "unpublished item")} in published ones, left out. Publish what is to be shown, or remove it from what leads to it`
    }
  ])

/**
 * A page of a collection, the one item of a value that is no collection, or a description of an unexpected response.
 */
export type CollectionAnswer<Item> =
  | {
      readonly kind: "page"
      readonly items: ReadonlyArray<Item>
      readonly total: number
      /** How many pages there are, if the system says it. */
      readonly pages?: number
      /** How many records came, if there are more than items. */
      readonly records?: number
      /** How many items come on a page, if it is known. */
      readonly size: number
    }
  | { readonly kind: "single"; readonly item: Item }
  | { readonly kind: "strange"; readonly detail: string }

interface Position<Item> {
  readonly page: number
  readonly last: Item | undefined
}

/** All items of a collection, each once; `single` is the item of a value that is no collection. */
export const readCollection = <Item>(
  vendor: Vendor,
  {
    ask,
    name,
    ...list
  }: Pick<List<unknown, Item, SourceError>, "idOf" | "mayRepeatItems" | "name"> & {
    /** Requests a page; `last` is the last item of the page before. */
    readonly ask: (
      progress: ListProgress,
      last: Item | undefined
    ) => Effect.Effect<CollectionAnswer<Item>, SourceError | ListChanged>
  }
) =>
  Effect.gen(function* () {
    const single = yield* Ref.make(Option.none<Item>())

    const askPage = Effect.fnUntraced(function* ({ last }: Position<Item>, progress: ListProgress) {
      const answer = yield* ask(progress, last)
      if (answer.kind === "strange") {
        return yield* strange(vendor, name, answer.detail)
      }
      if (answer.kind === "single") {
        yield* Ref.set(single, Option.some(answer.item))
        return { items: [answer.item], next: Option.none() }
      }
      const { items, records = items.length, size } = answer
      const { firstItems: firstRecords, number } = progress
      const read = progress.read + items.length
      const isEnd = items.length === 0 || isLast({ ...answer, number, records, firstRecords, read }, size)
      const next = Option.some({ page: number + 1, last: items.at(-1) })
      return { items, total: answer.total, next: isEnd ? Option.none() : next }
    })

    const pages = readList<Position<Item>, Item, SourceError | ListChanged>({
      ...list,
      name,
      first: { page: 1, last: undefined },
      ask: askPage,
      placeOf: ({ page }) => String(page),
      mistake: (detail) => strange(vendor, name, detail),
      firstAgain: `it has the ${vendor.items} of page 1 again`
    })
    const items = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.flattenIterables(pages)))
    return { items, single: yield* Ref.get(single) }
  })
