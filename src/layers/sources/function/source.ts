/**
 * Your own source: its options, and functions that return documents, without Effect.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { fileName } from "../../../files/fileName.ts"
import { expects, omittable, optional } from "../../../internal/Options.ts"
import { printableLine } from "../../../internal/printable.ts"
import { withTimeout } from "../../../internal/Schedules.ts"
import { messageOf } from "../../../internal/SerializedError.ts"
import type { ContentSourceDefinition, FetchTarget } from "../../../services/ContentSource.ts"
import { SourceError } from "../../../services/SourceError.ts"
import { type Document, Records, Value } from "../../documents/Document.ts"
import {
  type DocumentConfig,
  DocumentKeys,
  DocumentOptions,
  define
} from "../../documents/DocumentOptions.ts"
import * as DocumentSource from "../../documents/DocumentSource.ts"
import { readBefore } from "../../documents/documentFile.ts"
import { asJson, maxDetail } from "../../documents/jsonValues.ts"
import { csvOf, jsonOf } from "../../documents/readText.ts"
import * as Requests from "../../httpClient/Requests.ts"

/**
 * How a response is read: JSON, text, or CSV. In CSV the first row has the names; each other row becomes an object
 * without its empty cells.
 */
export interface GetOptions<As extends "json" | "text" | "csv" = "json" | "text" | "csv"> {
  /** Default `json`. */
  readonly as?: As
  /**
   * The separator of cells in CSV. Default: the most frequent delimiter in the first line outside of quotes, or the
   * one in a line `sep=;` before it.
   */
  readonly delimiter?: ";" | "," | "\t" | "|"
  /** Sent only to the origin of the URL, and not to other origins after a redirect. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The content of a URL: at most `maxBytes`, through the proxy of the environment, with retries if the server fails.
 * Content that has not changed since the last call is not transferred again. It rejects with the reason, which
 * contains no query of a URL and no header.
 *
 * @since 0.1.0
 * @category models
 */
export interface Get {
  (url: string | URL, options: GetOptions<"text"> & { readonly as: "text" }): Promise<string>
  (
    url: string | URL,
    options: GetOptions<"csv"> & { readonly as: "csv" }
  ): Promise<ReadonlyArray<Readonly<Record<string, string>>>>
  <Json = unknown>(url: string | URL, options?: GetOptions<"json">): Promise<Json>
}

/**
 * The argument of `fetch`.
 *
 * @since 0.1.0
 * @category models
 */
export interface SourceContext {
  readonly get: Get
  /** Aborts if the fetch is given up: the controller stops, or another source has failed. */
  readonly signal: AbortSignal
  /** Writes a line into the log of the controller. */
  readonly log: (message: string) => void
  /** A document of the last version, as it was saved; `undefined` if there is none. */
  readonly previous: <Json = unknown>(name: string) => Promise<Json | undefined>
}

/** A value, or the records of a long document one after the other. */
type DocumentInput = unknown | AsyncIterable<unknown>

/**
 * The options as a user writes them.
 *
 * @since 0.1.0
 * @category models
 */
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
    "a function that returns documents by their names"
  ),
  keys: optional(DocumentKeys, {}),
  poll: omittable(
    expects(
      Schema.declare((input): input is Poll => Predicate.isFunction(input)),
      "a function that returns a text"
    )
  )
})
export type SourceOptions = typeof SourceOptions.Type

/**
 * A source of content for the content plugin's `sources`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const source = (config: SourceConfig): ContentSourceDefinition =>
  define("the source", SourceOptions, config, make)

const make = Effect.fnUntraced(function* (options: SourceOptions) {
  const { fetch, keys, poll } = options
  const environment = yield* Effect.context<FileSystem.FileSystem>()
  const requests = yield* Requests.make(options)

  const open = Effect.fnUntraced(function* (target: FetchTarget) {
    const runtime = yield* Effect.runtime<FileSystem.FileSystem>()
    const signal = yield* signalOfFetch
    const given = yield* calling("fetch", () =>
      fetch({
        get: makeGet(requests, runtime, signal),
        signal,
        log: (message) => Runtime.runFork(runtime)(Effect.logInfo(printableLine(String(message)))),
        previous: makePrevious(target, runtime, signal)
      })
    )
    return { documents: yield* documentsOf(given, keys) }
  })

  const ask = (poll: Poll) =>
    Effect.flatMap(Effect.runtime<never>(), (runtime) =>
      calling("poll", (signal) => poll({ get: makeGet(requests, runtime, signal), signal }))
    )

  return yield* DocumentSource.make({
    options,
    open,
    poll:
      poll &&
      ((before) => Effect.map(ask(poll), (answer) => DocumentSource.changesSince(before, String(answer))))
  }).pipe(Effect.provide(environment))
})

/** The limit until the documents are returned, and for each item of an async iterable. */
const maxDuration = "10 minutes"

/** Aborts if the scope does not end with a success: iterables use the signal after `fetch` has returned. */
const signalOfFetch = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => new AbortController()),
    (controller, exit) => (Exit.isSuccess(exit) ? Effect.void : Effect.sync(() => controller.abort()))
  ),
  ({ signal }) => signal
)

/** Calls a function of the user. Its signal aborts when the effect is interrupted. */
const calling = <A>(place: string, call: (signal: AbortSignal) => A | Promise<A>) =>
  Effect.tryPromise({ try: async (signal) => call(signal), catch: failedIn(place) }).pipe(
    withTimeout(
      maxDuration,
      () => new SourceError({ place, detail: `it has sent nothing for ${maxDuration}`, isTransient: true })
    )
  )

const failedIn = (place: string) => (cause: unknown) =>
  new SourceError({
    place,
    detail: printableLine(messageOf(cause), maxDetail),
    isTransient: Predicate.hasProperty(cause, "isTransient") && cause.isTransient === true,
    cause
  })

const mistake = (place: string, detail: string) => new SourceError({ place, detail })

const example = 'such as { events: [{ "id": 1 }] }'

const documentsOf = (
  given: unknown,
  keys: SourceOptions["keys"]
): Effect.Effect<ReadonlyArray<Document<SourceError>>, SourceError> => {
  if (!Predicate.isRecord(given) || Object.keys(given).length === 0) {
    return mistake("fetch", `it must return an object of documents by their names, ${example}`)
  }
  const names = Object.keys(given)
  if (names.includes("")) {
    return mistake("fetch", `it returns a document without a name. Each document needs a name, ${example}`)
  }
  const unknown = Object.keys(keys).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    return mistake(
      "fetch",
      `"keys" names the document "${unknown}", but it returns no document with this name; it returns: ${names.join(", ")}`
    )
  }
  return Effect.succeed(
    names.map((name) => ({
      name,
      content: contentOf(name, given[name]),
      key: Option.getOrUndefined(Record.get(keys, name))
    }))
  )
}

const contentOf = (name: string, given: unknown): Document<SourceError>["content"] => {
  const place = `fetch, document "${name}"`
  return isAsyncIterable(given)
    ? Records({
        pages: itemsOf(place, given).pipe(
          Stream.mapEffect((record) => asJsonAt(place, record)),
          Stream.grouped(pageSize),
          Stream.map((page) => [...page])
        )
      })
    : Value({ value: asJsonAt(place, given) })
}

/** Each item within `maxDuration`. */
const itemsOf = (place: string, iterable: AsyncIterable<unknown>): Stream.Stream<unknown, SourceError> =>
  Effect.acquireRelease(
    Effect.sync(() => iterable[Symbol.asyncIterator]()),
    // In the background, because a generator that hangs does not return either.
    (iterator) => Effect.forkDaemon(Effect.tryPromise(async () => iterator.return?.()))
  ).pipe(
    Effect.map((iterator) =>
      Stream.repeatEffectOption(
        calling(place, () => iterator.next()).pipe(
          Effect.mapError(Option.some),
          Effect.flatMap(({ done, value }) =>
            done === true ? Effect.fail(Option.none()) : Effect.succeed<unknown>(value)
          )
        )
      )
    ),
    Stream.unwrapScoped
  )

const pageSize = 100

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  Predicate.hasProperty(value, Symbol.asyncIterator)

const asJsonAt = (place: string, value: unknown) =>
  Effect.mapError(asJson(value), (found) => mistake(place, `it is ${found}`))

const makeGet = (requests: Requests.Requests, runtime: Runtime.Runtime<never>, signal: AbortSignal): Get => {
  function get(url: string | URL, options: { readonly as: "text" }): Promise<string>
  function get(
    url: string | URL,
    options: { readonly as: "csv" }
  ): Promise<ReadonlyArray<Readonly<Record<string, string>>>>
  function get<Json>(url: string | URL, options?: GetOptions): Promise<Json>
  function get(
    url: string | URL,
    { as = "json", delimiter, headers = {} }: GetOptions = {}
  ): Promise<unknown> {
    const answer = requests.get(String(url), { accept: accepted[as], ...inSmallLetters(headers) })
    const read = (answer: Requests.Answer): Effect.Effect<unknown, Requests.RequestFailed> =>
      as === "json" ? jsonOf(answer) : as === "csv" ? csvOf(answer, delimiter) : Effect.succeed(answer.text)
    return run(Effect.flatMap(answer, read), runtime, signal)
  }
  return get
}

const inSmallLetters = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const accepted = { json: "application/json", text: "*/*", csv: "text/csv" }

/** Reads documents of the last version. */
const makePrevious = (
  { previous }: FetchTarget,
  runtime: Runtime.Runtime<FileSystem.FileSystem>,
  signal: AbortSignal
): SourceContext["previous"] => {
  const read = (name: string) =>
    Effect.catchTag(readBefore(previous, `${fileName(name)}.json`), "NoSuchElementException", () =>
      Effect.succeed(undefined)
    )
  function readDocument<Json>(name: string): Promise<Json | undefined>
  function readDocument(name: string): Promise<unknown> {
    return run(read(name), runtime, signal)
  }
  return readDocument
}

/** Rejects with the error itself. */
const run = <A, E, R>(effect: Effect.Effect<A, E, R>, runtime: Runtime.Runtime<R>, signal: AbortSignal) =>
  Runtime.runPromise(runtime)(Effect.either(effect), { signal }).then(Either.getOrThrowWith(identity))
