/**
 * A source of documents with media, over a web server of files, and what a version would know of it.
 */
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Value } from "../../src/layers/documents/Document.ts"
import type { ImageConfig } from "../../src/layers/documents/DocumentConfig.ts"
import { DocumentOptions } from "../../src/layers/documents/DocumentOptions.ts"
import * as DocumentSource from "../../src/layers/documents/DocumentSource.ts"
import { AnyMediaOptions, type MediaOptions } from "../../src/layers/documents/media/MediaOptions.ts"
import type { FileSettings } from "../../src/layers/documents/media/SourceFiles.ts"
import * as HttpClientNode from "../../src/layers/httpClient/HttpClientNode.ts"
import type { PreviousContent, SourceFile, SourceProgress } from "../../src/services/ContentSource.ts"
import type { SourceError } from "../../src/services/SourceError.ts"
import { sha256 } from "./sha256.ts"

export interface WebFile {
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "vitrine-media-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export const filesIn = (folder: string): Readonly<Record<string, SourceFile>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const file = join(entry.parentPath, entry.name)
        const content = readFileSync(file)
        return [
          file.slice(folder.length + 1),
          { size: content.length, sha256: createHash("sha256").update(content).digest("hex") }
        ] as const
      })
  )

/** What files are wanted of documents, and where these are from. */
export interface MediaSettings
  extends Partial<MediaOptions>,
    Omit<FileSettings, "maxAttachment">,
    Pick<DocumentSource.OpenedSource<never>, "reader"> {
  readonly images?: ImageConfig
  readonly maxTimeout?: number
}

type Inner = Pick<DocumentSource.DocumentSource<SourceError, never>, "open"> & {
  readonly url: string
}

/** What is set is what the source gives at its next fetch: documents where a name ends in `.json`, or else files of its own. */
export const makeDocuments = (url: string) => {
  let files: Readonly<Record<string, unknown>> = {}
  const documentsIn = () =>
    Object.entries(files).flatMap(([name, value]) =>
      name.endsWith(".json")
        ? [{ name: name.slice(0, -".json".length), url, content: Value({ value: Effect.succeed(value) }) }]
        : []
    )
  const source: Inner = {
    url,
    open: ({ directory }) =>
      Effect.sync(() => ({
        documents: documentsIn(),
        files: () =>
          Effect.sync(() => {
            const own = Object.entries(files).flatMap(([name, value]) =>
              Predicate.isString(value) || Buffer.isBuffer(value) ? [[name, value] as const] : []
            )
            for (const [name, value] of own) {
              const file = join(directory, name)
              mkdirSync(dirname(file), { recursive: true })
              writeFileSync(file, value)
            }
            return {
              total: 0,
              bytes: 0,
              reused: 0,
              place: Effect.void,
              digests: Object.fromEntries(
                own.map(([name]) => [name, sha256(readFileSync(join(directory, name)))])
              )
            }
          })
      }))
  }
  return {
    source,
    set: (next: Readonly<Record<string, unknown>>) => {
      files = next
    }
  }
}

/** Fetches into its own folder. */
export const makeFetch = (
  { images, maxTimeout, reader, serverHeaders, url: _, ...media }: MediaSettings,
  inner: Inner
) =>
  Effect.gen(function* () {
    const options = yield* decode({
      id: "museum",
      ...(Object.keys(media).length === 0 ? {} : { media }),
      ...(images && { images }),
      ...(maxTimeout && { maxTimeout })
    })
    return yield* DocumentSource.make({
      ...inner,
      options,
      open: (target) => Effect.map(inner.open(target), (opened) => ({ ...opened, reader })),
      ...(serverHeaders && { serverHeaders })
    })
  }).pipe(
    Effect.map((source) =>
      Effect.fnUntraced(function* (previous?: PreviousContent, onProgress = (_: SourceProgress) => {}) {
        const directory = yield* temporaryFolder
        const progress: Array<SourceProgress> = []
        const fetched = yield* source.fetch({
          directory,
          previous: Option.fromNullable(previous),
          progress: (step) =>
            Effect.sync(() => {
              progress.push(step)
              onProgress(step)
            })
        })
        const files = filesIn(directory)
        return {
          fetched,
          directory,
          progress,
          files,
          fingerprint: Option.some(fetched.fingerprint),
          media: Object.keys(files)
            .filter((name) => name.startsWith("media/") && !name.endsWith("files.json"))
            .sort(),
          read: (name: string): unknown => JSON.parse(readFileSync(join(directory, name), "utf8")),
          text: (name: string) => readFileSync(join(directory, name), "utf8")
        }
      })
    )
  )

const decode = Schema.decode(
  Schema.Struct({ ...DocumentOptions.fields, media: Schema.optionalWith(AnyMediaOptions, { exact: true }) })
)

export const mediaServices = Layer.merge(NodeContext.layer, HttpClientNode.layer)
