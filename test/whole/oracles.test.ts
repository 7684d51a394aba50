/**
 * Two oracles over random steps, which change what is in a source, and its options with a restart: a version is, byte for
 * byte, what a first fetch makes; and a check says what the fetch after it does.
 *
 * `ORACLE_RUNS` says how many runs there are. A failure names its seed: with that as `ORACLE_SEED` the same steps come
 * again.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import "../../src/layers/httpClient/agent.ts"
import { folderSource, jsonSource } from "../../src/index.ts"
import { contentOf, type Outcome, temporary } from "../rules/harness.ts"
import { linked, type Row, readers, type Stand, translated } from "../rules/readers.ts"
import { noisy } from "../support/pictures.ts"
import * as ScriptedServer from "../support/ScriptedServer.ts"
import { sha256 } from "../support/sha256.ts"

const { ORACLE_RUNS, ORACLE_SEED } = process.env

const numRuns = Number(ORACLE_RUNS ?? 5)
const timeout = 60_000 * numRuns
const seed = Number(ORACLE_SEED ?? Date.now() % 2 ** 31)

const { array, constant, constantFrom, option, record, tuple } = FastCheck

const png = await noisy(8, 6).png().toBuffer()

const anyPicture = constantFrom("bell.png", "loom.png")

/** Values of documents. */
const anyObject = record(
  {
    title: constantFrom("Bell", "Loom", ""),
    year: constantFrom<[number, number, string]>(1642, 1790, "about 1800"),
    picture: anyPicture,
    plan: anyPicture,
    room: constantFrom("hall", "attic", "hall, attic")
  },
  { requiredKeys: ["title"] }
)

const anyWorld = record({
  objects: array(tuple(constantFrom("a", "b", "c", "d"), anyObject), { maxLength: 4 }),
  rooms: array(constantFrom("hall", "attic"), { maxLength: 2 }),
  bell: constantFrom("1", "1", "2", "a web page", "nothing"),
  loom: constantFrom("1", "1", "2")
})

type World = typeof anyWorld extends FastCheck.Arbitrary<infer A> ? A : never

/** The files of a folder, and what a server has at these paths. */
const filesOf = ({ objects, rooms, ...pictures }: World, address: string) =>
  new Map<string, string | Buffer>([
    [
      "objects.json",
      JSON.stringify(objects.map(([id, object]) => ({ id, ...object }))).replaceAll(
        /\w+\.png/g,
        `${address}$&`
      )
    ],
    ["rooms.json", JSON.stringify(rooms.map((id) => ({ id })))],
    ...Object.entries(pictures).flatMap(([name, kind]) =>
      kind === "nothing"
        ? []
        : [
            [
              `${name}.png`,
              kind === "a web page" ? "<html>" : Buffer.concat([png, Buffer.from(kind)])
            ] as const
          ]
    )
  ])

type Objects = ReadonlyArray<{ readonly [field: string]: unknown }>

/** Options of a configuration. */
const anyOptions = record({
  expect: option(
    record({
      objects: record(
        {
          fields: constantFrom(
            { title: "text" } as const,
            { year: "number?" } as const,
            { picture: "any" } as const
          ),
          minRecords: constant(2),
          leaveOut: constant(1),
          maxVanishing: constantFrom(0.5, 1)
        },
        { requiredKeys: ["fields"] }
      )
    }),
    { nil: undefined }
  ),
  steps: constantFrom(
    undefined,
    [(objects: Objects) => objects.map((object) => ({ ...object, isSeen: true }))],
    [(objects: Objects) => objects.slice(1)]
  ),
  links: constantFrom(undefined, { room: "rooms" }),
  locales: constantFrom(undefined, ["de"], ["en", "de"]),
  images: constantFrom(undefined, { widths: [4] }, { widths: [2, 4] }),
  media: constantFrom(
    undefined,
    { find: ["**.picture"] },
    { find: ["**.plan"], replace: true as const },
    { find: ["**.picture", "**.plan"], optional: true as const }
  )
})

type Options = typeof anyOptions extends FastCheck.Arbitrary<infer A> ? A : never

/** Each part begins with a start of the controller. At some steps, nobody has edited anything. */
const anyParts = array(
  tuple(anyOptions, array(option(anyWorld, { freq: 2, nil: undefined }), { minLength: 1, maxLength: 3 })),
  {
    minLength: 1,
    maxLength: 4
  }
)

const folder = Effect.map(temporary, (directory) => ({
  give: (world: World) => {
    rmSync(directory, { recursive: true })
    mkdirSync(directory)
    for (const [name, bytes] of filesOf(world, "")) writeFileSync(join(directory, name), bytes)
  },
  source: ({ images: _, locales: __, media: ___, ...options }: Options) =>
    folderSource({ ...options, id: "museum", directory })
}))

/** A server with validators. Pictures are made smaller by a process, in real time. */
const json = Effect.fnUntraced(function* (isRealTime: boolean) {
  let files: ReturnType<typeof filesOf> = new Map()
  const { url } = yield* ScriptedServer.make((response, { headers, url }) => {
    const bytes = files.get(url.slice(1))
    if (bytes === undefined) return response.writeHead(404).end()
    const etag = `"${sha256(bytes)}"`
    if (headers["if-none-match"] === etag) return response.writeHead(304).end()
    response
      .writeHead(200, { etag, "content-type": url.endsWith(".json") ? "application/json" : "image/png" })
      .end(bytes)
  })
  return {
    give: (world: World) => {
      files = filesOf(world, `${url}/`)
    },
    source: ({ images, locales: _, ...options }: Options) =>
      jsonSource({
        ...options,
        ...(isRealTime ? { images } : {}),
        id: "museum",
        documents: { objects: `${url}/objects.json`, rooms: `${url}/rooms.json` }
      })
  }
})

/** A content system, whose content has languages: some objects are in one only. */
const cms = <R>(made: Effect.Effect<Stand, never, R>) =>
  Effect.map(made, ({ give, source }): Reader => {
    // The collections and options of a source are those of a world with pictures.
    let last: Parameters<Stand["give"]>[0] = {
      documents: { objects: [{ id: "a", picture: linked("bell.png") }], rooms: [] }
    }
    const first = last
    return {
      give: ({ objects, ...world }) => {
        const rows = new Map(
          objects.map(([id, { picture, title, year, ...others }]): [string, Row] => [
            id,
            {
              ...others,
              id,
              title: translated(
                year === undefined ? { de: title } : { de: title, en: `${title}, in English` }
              ),
              ...(picture === undefined ? {} : { picture: linked(picture) })
            }
          ])
        )
        const files = [...filesOf({ objects, ...world }, "")].filter(([name]) => name.endsWith(".png"))
        last = {
          documents: { objects: [...rows.values()], rooms: [...new Set(world.rooms)].map((id) => ({ id })) },
          files: Object.fromEntries(files)
        }
        give(last)
      },
      source: ({ expect, links, locales = [] }) => {
        give(first)
        const made = source({ expect, links, locales })
        give(last)
        return made
      }
    }
  })

const bytesIn = ({ file, files }: Outcome) =>
  Object.fromEntries(files.map((path) => [path, file(path).toString("latin1")]))

type Reader = Effect.Effect.Success<typeof folder>

const compare = Effect.fnUntraced(function* (
  { give, source }: Reader,
  parts: ReadonlyArray<readonly [Options, ReadonlyArray<World | undefined>]>,
  isRealTime: boolean
) {
  const cwd = yield* temporary
  for (const [options, worlds] of parts) {
    yield* Effect.scoped(
      Effect.gen(function* () {
        const museum = yield* contentOf(source(options), cwd, isRealTime)
        for (const world of worlds) {
          if (world !== undefined) give(world)
          const check = yield* museum.check
          const after = yield* museum.fetch
          expect(check, "what the check says").toBe(after.error === undefined ? after.changed : undefined)
          yield* Effect.scoped(
            Effect.gen(function* () {
              const fresh = yield* Effect.flatMap(
                contentOf(source(options), undefined, isRealTime),
                ({ fetch }) => fetch
              )
              // A first fetch has lost nothing.
              if (/maxVanishing|in the last version/.test(after.error ?? "")) return
              expect(after.error, `${after.error}, after a first fetch ${fresh.error}`).toBe(fresh.error)
              if (fresh.error === undefined) expect(bytesIn(after)).toEqual(bytesIn(fresh))
            })
          )
        }
      })
    )
  }
})

const compareAll = (
  reader: Effect.Effect<Reader, unknown, Scope.Scope | NodeContext.NodeContext>,
  isRealTime = false
) =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime()
    const property = FastCheck.asyncProperty(anyParts, (parts) =>
      Runtime.runPromise(runtime)(
        Effect.scoped(Effect.flatMap(reader, (stand) => compare(stand, parts, isRealTime))).pipe(
          Effect.provide(NodeContext.layer)
        )
      )
    )
    yield* Effect.promise(() => FastCheck.assert(property, { numRuns, seed, endOnFailure: true }))
  })

describe("every version is that of a first fetch, and each check says what the fetch does", () => {
  it.scoped("from a folder", () => compareAll(folder), timeout)
  it.scoped("from JSON", () => compareAll(json(false)), timeout)
  it.scopedLive("from JSON with pictures that are made smaller", () => compareAll(json(true), true), timeout)
  it.scoped("from Strapi with languages", () => compareAll(cms(readers.Strapi)), timeout)
  it.scoped("from Directus with languages", () => compareAll(cms(readers.Directus)), timeout)
})
