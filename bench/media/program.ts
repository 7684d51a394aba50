/**
 * A source of one document of links, with its files, by the built package.
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { NodeContext } from "@effect/platform-node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type ContentSource, DocumentSource } from "vitrine"
import { makeSearch } from "#dist/layers/documents/media/findMedia.js"
import { rulesOf } from "#dist/layers/documents/media/links.js"
import * as HttpClientNode from "#dist/layers/httpClient/HttpClientNode.js"
import { answer } from "../processes.ts"
import type { Fetched, MediaApi, MediaPlan } from "./protocol.ts"

const services = Layer.merge(NodeContext.layer, HttpClientNode.layer)

const documents = ({ files, url }: MediaPlan): ReadonlyArray<DocumentSource.Document<never>> => [
  {
    name: "objects",
    url,
    content: DocumentSource.Value({
      value: Effect.succeed(
        Array.from({ length: files }, (_, index) => ({ id: `rec${index}`, url: `${url}/${index}.jpg` }))
      )
    })
  }
]

const options = (more: Pick<DocumentSource.Config, "media">) =>
  Schema.decodeSync(DocumentSource.Options)({ id: "museum", ...more })

let previous = Option.none<ContentSource.PreviousContent>()
let fetches = 0

const fetch = (plan: MediaPlan): Promise<Fetched> =>
  Effect.gen(function* () {
    const source = yield* DocumentSource.make({
      options: options(plan.proves ? {} : { media: { find: ["*.url"] } }),
      open: () =>
        Effect.succeed({
          documents: documents(plan),
          reader: plan.proves
            ? ({ url }) => (typeof url === "string" ? Option.some({ url, version: "1" }) : Option.none())
            : undefined
        })
    })
    const directory = join(plan.directory, `${fetches++}`)
    mkdirSync(directory)
    const begin = performance.now()
    const before = process.cpuUsage()
    const fetched = yield* source.fetch({ directory, previous, progress: () => Effect.void })
    const { system, user } = process.cpuUsage(before)
    const time = performance.now() - begin
    const cpu = (system + user) / 1000
    const changed = !Option.exists(previous, ({ fingerprint }) =>
      Option.contains(fingerprint, fetched.fingerprint)
    )
    if (changed) {
      const files = Object.entries(fetched.digests ?? {}).map(
        ([name, sha256]) => [name, { size: statSync(join(directory, name)).size, sha256 }] as const
      )
      previous = Option.some({
        directory,
        fingerprint: Option.some(fetched.fingerprint),
        files: Object.fromEntries(files)
      })
    }
    return { time, cpu, reused: fetched.attachments?.reused ?? 0, changed }
  }).pipe(Effect.scoped, Effect.provide(services), Effect.runPromise)

/** A record of about a kilobyte, with a link. */
const documentOf = (index: number) => ({
  id: `rec${index}`,
  image: { alt: `A picture of ${index}`, url: `https://cdn.museum.example/pictures/${index}.jpg` },
  ...Object.fromEntries(
    Array.from({ length: 18 }, (_, field) => [`field${field}`, `Text ${index} of field ${field}`])
  ),
  year: index
})

const find: MediaApi["find"] = async ({ directory, documents }) => {
  const file = join(directory, "objects.json")
  const text = `${JSON.stringify(
    Array.from({ length: documents }, (_, index) => documentOf(index)),
    null,
    2
  )}\n`
  writeFileSync(file, text)
  const rules = rulesOf({ find: ["**.image.url"] })
  const search = async () => {
    const { found, look } = makeSearch(
      { isWanted: true, areLinksSigned: true, rules, wantsPictures: false },
      { document: "objects.json" }
    )
    const values: unknown = JSON.parse(readFileSync(file, "utf8"))
    for (const [index, value] of (Array.isArray(values) ? values : []).entries()) {
      for (const _ of look(value, index));
    }
    return found()
  }
  const parse = () => JSON.stringify(JSON.parse(readFileSync(file, "utf8")), null, 2)
  let [time, parsed, links] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0]
  // The best of some runs, because other work of the machine disturbs single runs.
  for (let round = 0; round < 8; round++) {
    const begin = performance.now()
    const found = await search()
    const between = performance.now()
    parse()
    time = Math.min(time, between - begin)
    parsed = Math.min(parsed, performance.now() - between)
    links = found.files.size
  }
  return { time, parsed, links }
}

answer<MediaApi>({ fetch, find })
