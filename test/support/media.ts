/**
 * A source of documents with media, over a web server of files, and what a version would know of it.
 */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { MediaSettings } from "../../src/layers/documents/media/AddMedia.ts"
import { withMedia } from "../../src/layers/documents/media/withMedia.ts"
import { savedText } from "../../src/layers/documents/sortedJson.ts"
import * as HttpClientNode from "../../src/layers/httpClient/HttpClientNode.ts"
import type {
  ContentSource,
  FetchedSource,
  FetchTarget,
  PreviousContent,
  SourceFile,
  SourceProgress
} from "../../src/services/ContentSource.ts"
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

/** What is set is what the source saves at its next fetch, whose fingerprint is that of these documents. */
export const makeDocumentSource = (url: string) => {
  let documents: Readonly<Record<string, unknown>> = {}
  let isLazy = false
  const received: Array<FetchTarget> = []
  const source: ContentSource = {
    id: "museum",
    fetch: (target) =>
      Effect.sync((): FetchedSource => {
        received.push(target)
        const fingerprint = sha256(JSON.stringify(documents))
        const isSame = Option.exists(target.previous, (before) =>
          Option.contains(before.fingerprint, fingerprint)
        )
        const names = Object.keys(documents)
        if (!(isLazy && isSame)) {
          for (const name of names) {
            const value = documents[name]
            const file = join(target.directory, name)
            mkdirSync(dirname(file), { recursive: true })
            writeFileSync(
              file,
              typeof value === "string" || Buffer.isBuffer(value) ? value : `${savedText(value)}\n`
            )
          }
        }
        return {
          fingerprint,
          records: 1,
          bytes: 0,
          digests: Object.fromEntries(
            names.flatMap((name) => {
              const file = join(target.directory, name)
              return existsSync(file) ? [[name, sha256(readFileSync(file))]] : []
            })
          ),
          documents: Object.fromEntries(
            names.filter((name) => name.endsWith(".json")).map((name) => [name, { url }])
          )
        }
      })
  }
  return {
    source,
    received,
    set: (next: Readonly<Record<string, unknown>>) => {
      documents = next
    },
    /** Leaves its folder empty where nothing has changed. */
    beLazy: () => {
      isLazy = true
    }
  }
}

/** Fetches into a folder of its own. */
export const makeFetch = (settings: Partial<MediaSettings>, inner: ContentSource) =>
  Effect.map(withMedia(settings)(inner), (source) =>
    Effect.fnUntraced(function* (previous?: PreviousContent) {
      const directory = yield* temporaryFolder
      const progress: Array<SourceProgress> = []
      const fetched = yield* source.fetch({
        directory,
        previous: Option.fromNullable(previous),
        progress: (step) => Effect.sync(() => progress.push(step))
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

export const mediaServices = Layer.merge(NodeContext.layer, HttpClientNode.layer)
