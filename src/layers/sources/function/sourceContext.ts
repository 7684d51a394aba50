/**
 * The argument of the functions of your own source.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { fileName } from "../../../files/fileName.ts"
import type { FetchTarget } from "../../../services/ContentSource.ts"
import { csvOf, jsonOf } from "../../documents/readText.ts"
import type { Answer, RequestFailed, Requests } from "../../httpClient/Requests.ts"

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
 */
export interface Get {
  (url: string | URL, options: GetOptions<"text"> & { readonly as: "text" }): Promise<string>
  (
    url: string | URL,
    options: GetOptions<"csv"> & { readonly as: "csv" }
  ): Promise<ReadonlyArray<Readonly<Record<string, string>>>>
  <Json = unknown>(url: string | URL, options?: GetOptions<"json">): Promise<Json>
}

/** The argument of `fetch`. */
export interface SourceContext {
  readonly get: Get
  /** Aborts if the fetch is given up: the controller stops, or another source has failed. */
  readonly signal: AbortSignal
  /** Writes a line into the log of the controller. */
  readonly log: (message: string) => void
  /** A document of the last version, as it was saved; `undefined` if there is none. */
  readonly previous: <Json = unknown>(name: string) => Promise<Json | undefined>
}

export const makeGet = (requests: Requests, runtime: Runtime.Runtime<never>, signal: AbortSignal): Get => {
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
    const read = (answer: Answer): Effect.Effect<unknown, RequestFailed> =>
      as === "json" ? jsonOf(answer) : as === "csv" ? csvOf(answer, delimiter) : Effect.succeed(answer.text)
    return run(Effect.flatMap(answer, read), runtime, signal)
  }
  return get
}

const inSmallLetters = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const accepted = { json: "application/json", text: "*/*", csv: "text/csv" }

/** Reads documents of the last version. */
export const makePrevious = (
  { previous }: FetchTarget,
  runtime: Runtime.Runtime<FileSystem.FileSystem | Path.Path>,
  signal: AbortSignal
): SourceContext["previous"] => {
  const read = Effect.fnUntraced(function* (name: string) {
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const file = `${fileName(name)}.json`
    const content = Option.filter(previous, ({ files }) => Object.hasOwn(files, file))
    if (Option.isNone(content)) return undefined
    const text = yield* fileSystem.readFileString(path.join(content.value.directory, file))
    return yield* Schema.decodeUnknown(Schema.parseJson())(text)
  })
  function readDocument<Json>(name: string): Promise<Json | undefined>
  function readDocument(name: string): Promise<unknown> {
    return run(read(name), runtime, signal)
  }
  return readDocument
}

/** Rejects with the error itself. */
const run = <A, E, R>(effect: Effect.Effect<A, E, R>, runtime: Runtime.Runtime<R>, signal: AbortSignal) =>
  Runtime.runPromise(runtime)(Effect.either(effect), { signal }).then(Either.getOrThrowWith(identity))
