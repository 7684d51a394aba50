/**
 * The columns of the table: each reader of content, over its stand-in server or its folder, behind one interface.
 */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import {
  directusSource,
  folderSource,
  jsonSource,
  sanitySource,
  source,
  strapiSource,
  tableSource
} from "../../src/index.ts"
import type { DocumentConfig } from "../../src/layers/documents/DocumentOptions.ts"
import type { ContentSourceDefinition } from "../../src/services/ContentSource.ts"
import { directusToken, startDirectus } from "../support/directus.ts"
import * as ScriptedServer from "../support/ScriptedServer.ts"
import * as SanityServer from "../support/sanityServer.ts"
import { sha256 } from "../support/sha256.ts"
import { startStrapi, strapiToken } from "../support/strapi.ts"
import * as TableServer from "../support/tableServer.ts"
import { type Change, startFront, typeOf, unchanged } from "./front.ts"

/** A file that a record links to. */
export class Linked {
  constructor(readonly file: string) {}
}
export const linked = (file: string) => new Linked(file)

/** The address of a file as text, as a person pastes it: the path of the file in a folder. `end` stands behind it. */
export class Pasted {
  constructor(
    readonly file: string,
    readonly end: string
  ) {}
}
export const pasted = (file: string, end: string = "") => new Pasted(file, end)

/** A text in several languages. */
export class Translated {
  constructor(readonly texts: Readonly<Record<string, string>>) {}
}
export const translated = (texts: Readonly<Record<string, string>>) => new Translated(texts)

/** Another record that a record has inside. */
export class Related {
  constructor(readonly row: Row) {}
}
export const related = (row: Row) => new Related(row)

/** Its `id` becomes the id of the vendor. */
export interface Row extends Readonly<Record<string, unknown>> {
  readonly id: string
  /** Whether it is not published, in the way of the vendor. */
  readonly isDraft?: boolean
}

/** The content of a museum. */
export interface World {
  /** Lists by the names of their documents. */
  readonly documents: Readonly<Record<string, ReadonlyArray<Row>>>
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Whether documents are CSV where a reader has such documents. */
  readonly isCsv?: boolean
  /** Whether JSON at a URL comes in pages. */
  readonly isPaged?: boolean
  /** Whether documents depend on the time, where a reader has such documents. */
  readonly isTimed?: boolean
  /** When files of a folder were changed. Default now. */
  readonly changedAt?: Date
  /** Changes what the server sends, or what is in the folder. */
  readonly change?: Change
}

export interface Options extends Pick<DocumentConfig, "expect" | "images" | "links"> {
  readonly locales?: ReadonlyArray<string>
  /** Documents of keys and values, in folders and tables. */
  readonly keyValueTables?: ReadonlyArray<string>
  /** Whether files may be missing. */
  readonly isOptional?: boolean
  /** The id of the source. Default `museum`. */
  readonly id?: string
}

/** A museum's content at a reader. */
export interface Stand {
  readonly give: (world: World) => void
  /** A source of the documents that the world has now. */
  readonly source: (options: Options) => ContentSourceDefinition
}

/** For servers whose stand-ins have no tokens of their own. */
const token = "token-of-a-reader-0123456789"

/** How a reader has files: as the vendor names them, and their addresses. */
interface Links {
  readonly link: (file: string) => unknown
  readonly address: (file: string) => string
}

/** The fields of a row without its id, as the reader has them. */
const fieldsOf = ({ id: _, isDraft: __, ...fields }: Row, { address, link }: Links) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value instanceof Translated
        ? Object.entries(value.texts).map(([language, text]) => [`${name}_${language}`, text])
        : value instanceof Linked
          ? [[name, link(value.file)]]
          : [[name, value instanceof Pasted ? `${address(value.file)}${value.end}` : value]]
    )
  )

const ownFields = (row: Row, links: Links): Record<string, unknown> => ({
  id: row.id,
  ...Object.fromEntries(
    Object.entries(fieldsOf(row, links)).map(([name, value]) => [
      name,
      value instanceof Related ? ownFields(value.row, links) : value
    ])
  )
})

/** Files below the address of a server. */
const at = (url: () => string): Links => {
  const address = (file: string) => `${url()}/files/${encoded(file)}`
  return { address, link: (file) => ({ url: address(file) }) }
}

const csvOf = (records: ReadonlyArray<Readonly<Record<string, unknown>>>): string => {
  const names = [...new Set(records.flatMap(Object.keys))]
  const cell = (value: unknown) => `"${String(value ?? "").replaceAll('"', '""')}"`
  return [names, ...records.map((record) => names.map((name) => record[name]))]
    .map((cells) => `${cells.map(cell).join(",")}\n`)
    .join("")
}

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "vitrine-rules-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const fill = (directory: string, files: Readonly<Record<string, string | Uint8Array>>) => {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), bytes)
  }
}

const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/")

/** A date that changes with the bytes. */
const dateOf = (bytes: string | Uint8Array = "") =>
  new Date(Number.parseInt(sha256(Buffer.from(bytes)).slice(0, 10), 16)).toISOString()

/** Nothing if the world has no links, which is a warning otherwise. Pasted addresses are in fields named `link`. */
const mediaAt = (
  url: string,
  world: World,
  { isOptional = false }: Options,
  ...find: ReadonlyArray<string>
) =>
  Object.values(world.documents)
    .flat()
    .flatMap(Object.values)
    .some((value) => value instanceof Linked || value instanceof Pasted)
    ? {
        find: ["**.link", ...find],
        hosts: [new URL(url).host],
        ...(isOptional ? { optional: true as const } : {})
      }
    : undefined

/** The last world, and what its `change` makes of a document. */
const makeLast = () => {
  let last: World = { documents: {} }
  return {
    set: (world: World) => {
      last = world
    },
    get: () => last,
    names: () => Object.keys(last.documents),
    files: () => last.files ?? {},
    change: () => last.change ?? unchanged
  }
}

const common = ({ expect, id = "museum", images, links }: Options) => ({ id, expect, images, links })

const folder = Effect.gen(function* () {
  const directory = yield* temporary
  return {
    give: ({ change = unchanged, changedAt, documents, files = {}, isCsv = false }: World) => {
      const written = Object.entries(documents).map(([name, rows]) => {
        const records = rows.map((row) => ownFields(row, { link: identity, address: identity }))
        const text = isCsv ? csvOf(records) : JSON.stringify(records)
        const given = { url: `/${name}`, asked: {}, status: 200, headers: {}, body: Buffer.from(text) }
        return [`${name}.${isCsv ? "csv" : "json"}`, { ...given, ...change(given) }.body] as const
      })
      fill(directory, { ...Object.fromEntries(written), ...files })
      if (changedAt === undefined) return
      for (const [name] of [...written, ...Object.entries(files)]) {
        utimesSync(join(directory, name), changedAt, changedAt)
      }
    },
    source: ({ keyValueTables, ...options }: Options) =>
      folderSource({ ...common(options), directory, keyValueTables })
  }
})

/** A web server with documents and files. */
const webServer = Effect.gen(function* () {
  const last = makeLast()
  const inner = yield* ScriptedServer.make((response, request) => {
    const { documents, isCsv = false, isPaged = false } = last.get()
    const [name = "", skipped = "0"] = decodeURIComponent(request.url).slice(1).split("?skip=")
    const rows = isPaged ? documents[name]?.slice(Number(skipped), Number(skipped) + 2) : documents[name]
    const records = rows?.map((row) =>
      ownFields(
        row,
        at(() => front.url)
      )
    )
    const answer =
      records === undefined
        ? ScriptedServer.text(404, "There is no such document.")
        : isCsv
          ? ScriptedServer.text(200, csvOf(records), { "content-type": "text/csv" })
          : ScriptedServer.json(200, records)
    answer(response, request)
  })
  const front = yield* startFront(inner.url, last)
  return { last, url: front.url }
})

const json = Effect.map(webServer, ({ last, url }) => ({
  give: last.set,
  source: (options: Options) =>
    jsonSource({
      ...common(options),
      media: mediaAt(url, last.get(), options, "**.url"),
      documents: Object.fromEntries(
        last.names().map((name) => [
          name,
          {
            url: `${url}/${encodeURIComponent(name)}`,
            headers: { authorization: `Bearer ${token}` },
            as: last.get().isCsv ? ("csv" as const) : ("json" as const),
            ...(last.get().isPaged ? { offset: "skip" } : {})
          }
        ])
      )
    })
}))

const ownFunction = Effect.map(webServer, ({ last, url }) => ({
  give: last.set,
  source: (options: Options) =>
    source({
      ...common(options),
      media: mediaAt(url, last.get(), options, "**.url"),
      poll: ({ get }) => get(`${url}/${encodeURIComponent(last.names()[0] ?? "")}`, { as: "text" }),
      fetch: async ({ get }) => {
        const headers = { authorization: `Bearer ${token}` }
        const documents = last.names().map(async (name) => {
          const address = `${url}/${encodeURIComponent(name)}`
          const isCsv = last.get().isCsv === true
          return [name, await (isCsv ? get(address, { as: "csv", headers }) : get(address, { headers }))]
        })
        return Object.fromEntries(await Promise.all(documents))
      }
    })
}))

const tables = Effect.gen(function* () {
  const last = makeLast()
  const directory = yield* temporary
  const server = yield* Effect.orDie(TableServer.start(directory, { rateLimit: false }))
  const ofFiles = `http://127.0.0.1:${server.attachmentAddress.port}`
  const files = yield* startFront(ofFiles, last)
  // Connections to the server itself are kept, and time would stand still meanwhile.
  const front = yield* startFront(server.url, {
    ...last,
    change: () => (given) => {
      const body = Buffer.from(given.body.toString("latin1").replaceAll(ofFiles, files.url), "latin1")
      return { body, ...last.change()({ ...given, body }) }
    }
  })
  const links = { ...at(() => front.url), link: (file: string) => [{ file }] }
  return {
    give: (world: World) => {
      last.set(world)
      const written = Object.entries(world.documents).map(([name, rows]) => {
        const records = rows.map((row) => ({
          id: row.id,
          fields: fieldsOf(row, links)
        }))
        return [`${name}.json`, JSON.stringify({ records })] as const
      })
      fill(directory, { ...Object.fromEntries(written), ...world.files })
    },
    source: ({ keyValueTables = [], ...options }: Options) =>
      tableSource({
        ...common(options),
        baseId: "appMuseum0000001",
        apiKey: token,
        endpointUrl: front.url,
        defaultView: null,
        changes: "webhook",
        tables: last.names().filter((name) => !keyValueTables.includes(name)),
        keyValueTables,
        media: mediaAt(front.url, last.get(), options)
      })
  }
})

const strapi = Effect.gen(function* () {
  const last = makeLast()
  const server = yield* startStrapi({})
  const front = yield* startFront(server.url, last)
  const published = "2026-01-02T03:04:05.678Z"
  return {
    give: (world: World) => {
      last.set(world)
      const { documents, files = {} } = world
      const link = (file: string) => ({
        documentId: sha256(file).slice(0, 24),
        name: basename(file),
        url: `/uploads/${encoded(file)}`,
        mime: typeOf(file),
        size: (files[file]?.length ?? 0) / 1000,
        updatedAt: dateOf(files[file])
      })
      const links = { ...at(() => front.url), link }
      const entryOf = (row: Row): { documentId: string; publishedAt: string | null } => ({
        documentId: row.id,
        publishedAt: row.isDraft ? null : published,
        ...Object.fromEntries(
          Object.entries(fieldsOf(row, links)).map(([name, value]) => [
            name,
            value instanceof Related ? entryOf(value.row) : value
          ])
        )
      })
      const languagesOf = (row: Row) =>
        Object.values(row).flatMap((value) => (value instanceof Translated ? Object.keys(value.texts) : []))
      server.state.types = Object.fromEntries(
        Object.entries(documents).map(([name, rows]) => {
          const languages = [...new Set(rows.flatMap(languagesOf))]
          const entries = rows.flatMap((row) =>
            languages.length === 0
              ? [entryOf(row)]
              : languages.flatMap((locale) => {
                  const own = Object.entries(row).flatMap(([field, value]) =>
                    value instanceof Translated
                      ? value.texts[locale] === undefined
                        ? []
                        : [[field, value.texts[locale]]]
                      : [[field, value]]
                  )
                  return languagesOf(row).includes(locale)
                    ? [{ ...entryOf({ ...Object.fromEntries(own), id: row.id }), locale }]
                    : []
                })
          )
          return [name, { entries }]
        })
      )
      server.state.uploads = Object.fromEntries(
        Object.entries(files).map(([name, bytes]) => [`/uploads/${name}`, bytes])
      )
    },
    source: ({ locales, ...options }: Options) =>
      strapiSource({
        ...common(options),
        url: front.url,
        token: strapiToken,
        locales,
        types: Object.fromEntries(last.names().map((name) => [name, { populate: "*", sort: "number" }])),
        media: mediaAt(front.url, last.get(), options)
      })
  }
})

const directus = Effect.gen(function* () {
  const last = makeLast()
  const server = yield* startDirectus({})
  const front = yield* startFront(server.url, last)
  const uuidOf = (file: string) =>
    sha256(file).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5")
  return {
    give: (world: World) => {
      last.set(world)
      const { documents, files = {} } = world
      const link = (file: string) => ({
        id: uuidOf(file),
        filename_download: basename(file),
        modified_on: dateOf(files[file]),
        filesize: files[file]?.length ?? 0,
        type: typeOf(file)
      })
      const links = { ...at(() => front.url), link }
      const hasDrafts = Object.values(documents).some((rows) =>
        rows.some(({ isDraft }) => isDraft !== undefined)
      )
      const itemOf = (row: Row): Record<string, unknown> => {
        const translations = Object.entries(row).flatMap(([field, value]) =>
          value instanceof Translated
            ? Object.entries(value.texts).map(([languages_code, text]) => ({
                id: `${row.id} ${field} ${languages_code}`,
                languages_code,
                [field]: text
              }))
            : []
        )
        const plain = Object.fromEntries(
          Object.entries(row).filter(([, value]) => !(value instanceof Translated))
        )
        return {
          id: row.id,
          ...(hasDrafts || row.isDraft !== undefined ? { status: row.isDraft ? "draft" : "published" } : {}),
          ...Object.fromEntries(
            Object.entries(fieldsOf({ ...plain, id: row.id }, links)).map(([name, value]) => [
              name,
              value instanceof Related ? itemOf(value.row) : value
            ])
          ),
          ...(translations.length > 0 ? { translations } : {})
        }
      }
      server.state.collections = Object.fromEntries(
        Object.entries(documents).map(([name, rows]) => [name, { items: rows.map(itemOf) }])
      )
      server.state.files = Object.fromEntries(
        Object.entries(files).map(([name, bytes]) => [uuidOf(name), bytes])
      )
      server.state.types = Object.fromEntries(Object.keys(files).map((name) => [uuidOf(name), typeOf(name)]))
    },
    source: ({ locales, ...options }: Options) =>
      directusSource({
        ...common(options),
        url: front.url,
        token: directusToken,
        locales,
        collections: Object.fromEntries(last.names().map((name) => [name, { fields: ["*", "*.*"] }])),
        media: mediaAt(front.url, last.get(), options)
      })
  }
})

const sanity = Effect.gen(function* () {
  const last = makeLast()
  const server = yield* SanityServer.make([])
  const front = yield* startFront(server.url, last)
  return {
    give: (world: World) => {
      last.set(world)
      const { documents } = world
      const links = at(() => front.url)
      const itemOf = (row: Row): { readonly _id: string } => ({
        ...Object.fromEntries(
          Object.entries(fieldsOf(row, links)).map(([name, value]) => [
            name,
            value instanceof Related ? itemOf(value.row) : value
          ])
        ),
        _id: `${row.isDraft ? "drafts." : ""}${row.id}`
      })
      server.set(
        Object.entries(documents).flatMap(([name, rows]) =>
          rows.map((row) => ({ ...itemOf(row), _type: name }))
        )
      )
    },
    source: (options: Options) =>
      sanitySource({
        ...common(options),
        projectId: "zp7mbokg",
        dataset: "production",
        endpointUrl: front.url,
        live: false,
        token: SanityServer.token,
        media: mediaAt(front.url, last.get(), options, "**.url"),
        queries: Object.fromEntries(
          last
            .names()
            .map((name) => [
              name,
              `*[_type == "${name}"${last.get().isTimed ? " && dateTime(now()) > dateTime(begins)" : ""}]`
            ])
        )
      })
  }
})

/** In the order of the table. */
export const readers = {
  folder,
  JSON: json,
  tables,
  Strapi: strapi,
  Directus: directus,
  Sanity: sanity,
  function: ownFunction
}

export type ReaderName = keyof typeof readers

export const readerNames: ReadonlyArray<ReaderName> = [
  "folder",
  "JSON",
  "tables",
  "Strapi",
  "Directus",
  "Sanity",
  "function"
]
