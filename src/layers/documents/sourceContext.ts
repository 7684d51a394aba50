/**
 * What the functions of a source of one's own are given.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { fileName } from "../../internal/FileName.ts"
import type { FetchTarget } from "../../services/ContentSource.ts"
import type { Answer, RequestFailed, Requests } from "../httpClient/Requests.ts"
import { parseCsv, parseJson } from "./answers.ts"
import type { Get, GetOptions, SourceContext } from "./SourceConfig.ts"

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
      as === "json"
        ? parseJson(answer)
        : as === "csv"
          ? parseCsv(answer, delimiter)
          : Effect.succeed(answer.text)
    return run(Effect.flatMap(answer, read), runtime, signal)
  }
  return get
}

const inSmallLetters = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const accepted = { json: "application/json", text: "*/*", csv: "text/csv" }

/** Reads documents of the version before. */
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
