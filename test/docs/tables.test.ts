/**
 * The tables of the documentation name what there is, all of it, and with its values.
 */

import { readdirSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { jsonText } from "../../src/internal/jsonText.ts"
import { maxEvents, maxEventsSize } from "../../src/internal/keptEvents.ts"
import { ContentServerOptions } from "../../src/layers/contentServer/ContentServerOptions.ts"
import { maxManifestBytes } from "../../src/layers/contentServer/Resources.ts"
import { maxNames } from "../../src/layers/contentServer/SiteBuild.ts"
import { capacity } from "../../src/layers/contentServer/VersionFiles.ts"
import { maxConnections } from "../../src/layers/control/IpcServer.ts"
import { ConfigurationFile } from "../../src/layers/controller/loadConfiguration.ts"
import { DashboardOptions } from "../../src/layers/dashboard/DashboardOptions.ts"
import { budget } from "../../src/layers/documents/budget.ts"
import { AnyMediaOptions } from "../../src/layers/documents/media/MediaOptions.ts"
import { maxQueuedBytes } from "../../src/layers/fanOut/FanOut.ts"
import { ContentOptions } from "../../src/layers/fetching/ContentOptions.ts"
import {
  loopbackPlaces,
  maxConnections as maxPortConnections,
  surplus
} from "../../src/layers/http/ConnectionLimit.ts"
import * as HttpServer from "../../src/layers/http/HttpServer.ts"
import { maxBodyBytes } from "../../src/layers/http/RequestBody.ts"
import { maxUnread, stallTimeout } from "../../src/layers/http/stallTimeout.ts"
import { HttpTransportOptions } from "../../src/layers/httpTransport/HttpTransportOptions.ts"
import { maxRunning } from "../../src/layers/memory/CommandBusMemory.ts"
import { NatsOptions } from "../../src/layers/nats/NatsOptions.ts"
import { ReplicaOptions } from "../../src/layers/replica/ReplicaOptions.ts"
import { DirectusOptions } from "../../src/layers/sources/directus/DirectusOptions.ts"
import { FolderOptions } from "../../src/layers/sources/folder/folderSource.ts"
import { SourceOptions } from "../../src/layers/sources/function/source.ts"
import { JsonDocumentOptions, JsonSourceOptions } from "../../src/layers/sources/json/JsonSourceOptions.ts"
import { StrapiOptions } from "../../src/layers/sources/strapi/StrapiOptions.ts"
import { AirtableSourceOptions } from "../../src/layers/sources/tables/airtableSource.ts"
import { DispatchError } from "../../src/services/CommandBus.ts"
import { ContentEvent } from "../../src/services/ContentEvents.ts"
import { warningCodes } from "../../src/services/Warning.ts"
import { below, codeIn, read, repository, rowsOf } from "../support/documents.ts"

const tablesBelow = (page: string, heading: string) => rowsOf(below(heading, read(page)))

interface PackageLock {
  /** By their paths; that of the project itself is empty. */
  readonly packages: Readonly<
    Record<string, { readonly dev?: boolean; readonly peer?: boolean; readonly license?: string }>
  >
}

/** What stands as code in the first cells. */
const namesIn = (rows: ReadonlyArray<ReadonlyArray<string>>) => rows.flatMap(([name = ""]) => codeIn(name))

/** Options of `replica` that are those of `content`. */
const ofContent = [
  "`name`",
  "`commands`",
  "`downloadPath`",
  "`keepVersions`",
  "`ackLease`",
  "`failingFor`",
  "`maxAge`"
]

describe("the options of", () => {
  it.each([
    ["a configuration", "docs/api.md", "### `defineConfig({ … })`", ConfigurationFile, { plugins: [] }],
    ["content", "docs/api.md", "### `content({ … })`", ContentOptions, { sources: [] }],
    [
      "tableSource",
      "docs/api.md",
      "### `tableSource({ … })`",
      AirtableSourceOptions,
      { id: "a", baseId: "b", apiKey: "c" }
    ],
    ["media", "docs/api.md", "### `media`", AnyMediaOptions, {}],
    ["source", "docs/api.md", "### `source({ … })`", SourceOptions, { id: "events", fetch: () => ({}) }],
    [
      "folderSource",
      "docs/api.md",
      "### `folderSource({ … })`",
      FolderOptions,
      { id: "exhibits", directory: "content" }
    ],
    [
      "strapiSource",
      "docs/api.md",
      "### `strapiSource({ … })`",
      StrapiOptions,
      { id: "museum", url: "https://cms.example", types: { articles: {} } }
    ],
    [
      "directusSource",
      "docs/api.md",
      "### `directusSource({ … })`",
      DirectusOptions,
      { id: "museum", url: "https://cms.example", collections: { articles: {} } }
    ],
    [
      "jsonSource",
      "docs/api.md",
      "### `jsonSource({ … })`",
      JsonSourceOptions,
      { id: "events", documents: { events: "https://museum.example/events.json" } }
    ],
    [
      "a document of jsonSource",
      "docs/api.md",
      "### A document of `jsonSource`",
      JsonDocumentOptions,
      { url: "https://museum.example/events.json" }
    ],
    ["vitrine/nats", "docs/nats.md", "## Options", NatsOptions, {}],
    ["dashboard", "docs/api.md", "### `dashboard({ … })`", DashboardOptions, {}],
    ["contentServer", "docs/api.md", "### `contentServer({ … })`", ContentServerOptions, {}],
    ["replica", "docs/api.md", "### `replica({ … })`", ReplicaOptions, { from: "http://hub:8730" }],
    ["httpTransport", "docs/api.md", "### `httpTransport({ … })`", HttpTransportOptions, {}]
  ] as const)("%s are in a table, with their defaults", (_, page, heading, schema, required) => {
    const decode = Schema.decodeUnknownEither(Schema.make<Readonly<Record<string, unknown>>>(schema.ast))
    const decoded = Either.getOrThrow(decode(required))
    const defaults = Object.keys(schema.fields).map((name) => [
      name,
      name in required ? undefined : decoded[name]
    ])
    const own = tablesBelow(page, heading).filter(({ length }) => length === 4)
    const shared =
      heading === "### `replica({ … })`"
        ? tablesBelow(page, "### `content({ … })`").filter(([name = ""]) => ofContent.includes(name))
        : "steps" in schema.fields
          ? tablesBelow(page, "### Options of every source of documents")
          : []
    // A word that is no code, "all" for example, says what it means that there is none.
    const documented = [...shared, ...own].map((row) => [
      codeIn(row[0] ?? "")[0],
      codeIn(row[2] ?? "").map((json) => JSON.parse(json))[0]
    ])
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(defaults))
  })
})

describe("the limits of", () => {
  const limitsBelow = (heading: string, page = "docs/wire.md") =>
    Object.fromEntries(tablesBelow(page, heading))
  const number = (value: number) => value.toLocaleString("en")

  it("the HTTP transport are those of the source", () => {
    expect(limitsBelow("## 8. Limits")).toMatchObject({
      connections: expect.stringMatching(
        `^${number(maxPortConnections)}, .* ${surplus} more .* at most ${loopbackPlaces(maxPortConnections)}$`
      ),
      "commands of one type that run at the same time": expect.stringContaining(number(maxRunning)),
      "body of a command": expect.stringContaining(number(maxBodyBytes)),
      "requests that wait on a connection (pipelining)": expect.stringContaining(
        number(HttpServer.maxWaiting)
      ),
      "queued for one client": expect.stringContaining(number(maxQueuedBytes)),
      "waiting on the bus": expect.stringMatching(`^${number(maxEvents)} .*${number(maxEventsSize)} `),
      "a client that does not read its response, or has closed its side and waits for one":
        expect.stringContaining(`${Number.parseInt(stallTimeout, 10)} s`),
      "responses that wait in memory for clients that do not read": expect.stringContaining(number(maxUnread))
    })
  })

  it("the content server are those of the source", () => {
    expect(limitsBelow("## 11. Content over HTTP")).toMatchObject({
      "a response that the client does not read": expect.stringContaining(
        `${Number.parseInt(stallTimeout, 10)} s`
      ),
      "lists of files in memory": expect.stringContaining(String(capacity)),
      "names of files and folders in a build": expect.stringContaining(number(maxNames)),
      "a manifest": expect.stringContaining(number(maxManifestBytes))
    })
  })

  it("content are those of the source", () => {
    const values = Object.values(limitsBelow("## Limits", "docs/content.md")).map((text) =>
      Number.parseInt(String(text).replaceAll(",", ""), 10)
    )
    expect(values.filter(Number.isFinite)).toEqual([
      budget.records,
      budget.read,
      budget.written,
      budget.levels,
      budget.characters,
      budget.bytes,
      budget.files
    ])
  })

  it("the controller's own socket are those of the source", () => {
    expect(below("## 10. The controller's own socket", read("docs/wire.md"))).toContain(
      `At most ${maxConnections} connections`
    )
  })
})

describe("the tables name", () => {
  it("the problems by their codes", () => {
    const modules = readdirSync(`${repository}/src/layers`, { recursive: true, encoding: "utf8" }).filter(
      (file) => file.endsWith(".ts")
    )
    const codes = modules.flatMap((file) => {
      const code = /^(status|screens)[/\\]|pluginReport\.ts$/.test(file)
        ? /"([a-z-]+:[a-z-]+)"/g
        : /\bcode: "([a-z-]+:[a-z-]+)"/g
      return [...read(`src/layers/${file}`).matchAll(code)].map(([, code]) => code)
    })
    const documented = rowsOf(read("docs/problems.md")).flatMap((row) =>
      codeIn(row.at(-1) ?? "").filter((name) => /^[a-z-]+:[a-z-]+$/.test(name))
    )
    expect(documented.sort()).toEqual([...new Set([...codes, ...warningCodes])].sort())
  })

  it("the events of content with their fields", () => {
    const documented = tablesBelow("docs/wire.md", "## 6. Events").map(([name = "", payload = ""]) => [
      codeIn(name)[0],
      (codeIn(payload)[0] ?? "").match(/\w+\??/g)
    ])
    const actual = ContentEvent.members.map(({ fields }) => [
      fields.name.literals[0],
      AST.getPropertySignatures(fields.payload.ast).map(
        ({ isOptional, name }) => `${String(name)}${isOptional ? "?" : ""}`
      )
    ])
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(actual))
  })

  it("the errors of a command that was not executed", () => {
    const documented = namesIn(tablesBelow("docs/wire.md", "### 2.4 Error of a command"))
    const actual = DispatchError.members.map(({ _tag }) => _tag.replace("vitrine/", ""))
    expect([...documented, "CommandFailed"].sort()).toEqual(actual.sort())
  })

  it("the placeholders of values that JSON lacks", () => {
    const cycle: Record<string, unknown> = {}
    cycle.itself = cycle
    const deep = Array.from({ length: 201 }).reduce((inner) => [inner], [7n])
    const throwing = {
      toJSON: () => {
        throw new Error("No")
      }
    }
    const placeholders = Object.fromEntries(
      tablesBelow("docs/wire.md", "### 4.5 JSON").map(([value = "", text = ""]) => [value, codeIn(text)[0]])
    )
    expect(placeholders).toEqual({
      "a cycle": jsonText(cycle).slice('{"itself":'.length, -1),
      "a bigint, `7n` for example": jsonText(7n),
      "a getter or `toJSON` that throws": jsonText(throwing),
      "more than 200 levels": jsonText(deep).replace(/^\[+("[^"]*")\]+$/, "$1"),
      "`undefined` as a whole": jsonText(undefined)
    })
  })

  it("the dependencies of the package", () => {
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(read("package.json"))
    const documented = namesIn(tablesBelow("docs/effect.md", "## Dependencies"))
    expect(documented.sort()).toEqual(Object.keys({ ...dependencies, ...peerDependencies }).sort())
  })

  it("the licences of all packages that are installed with it", () => {
    const { packages }: PackageLock = JSON.parse(read("package-lock.json"))
    const installed = Object.entries(packages).flatMap(([path, { dev = false, license, peer = false }]) =>
      path === "" || dev || peer ? [] : [[path.replace(/^.*node_modules\//, ""), license]]
    )
    const documented = tablesBelow("docs/it.md", "## Licences").flatMap(([license, names = ""]) =>
      codeIn(names).map((name) => [name, license])
    )
    expect(installed.length).toBeGreaterThan(10)
    expect(Object.fromEntries(documented)).toMatchObject(Object.fromEntries(installed))
  })

  it("the licences of the typefaces of the demo's page", () => {
    const fonts = "scratchpad/exhibit/page/fonts"
    const families = new Set(
      readdirSync(`${repository}/${fonts}`).flatMap((file) => /^(.*)-latin.*\.woff2$/.exec(file)?.[1] ?? [])
    )
    const style = read(`${fonts}/fonts.css`)
    const packages = [...style.matchAll(/@fontsource-variable\/([\w-]+)\s[\d.]+\d/g)]
    expect(packages.map(([, family]) => family).sort()).toEqual([...families].sort())
    const documented = tablesBelow("docs/it.md", "## Licences").find(([licence]) => licence === "OFL-1.1")
    expect(codeIn(documented?.[1] ?? "")).toEqual(packages.map(([name]) => name.replace(/\s.*/s, "")).sort())
    for (const family of families) {
      expect(read(`${fonts}/${family}-LICENSE.txt`)).toContain("SIL Open Font License, Version 1.1")
    }
  })

  it("messages that are in the source", () => {
    const source = readdirSync(`${repository}/src`, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => read(`src/${file}`))
      .join("\n")
    const sections = [
      "## Content",
      "## Screens",
      "## Players",
      "## Controller, connections, NATS",
      "## Messages"
    ]
    const messages = namesIn(sections.flatMap((heading) => tablesBelow("docs/problems.md", heading)))
    expect(messages.length).toBeGreaterThan(50)
    // What differs from case to case: names, numbers, what is left out.
    const parts = messages.flatMap((message) =>
      message.split(/…|"[^"]*"|HTTP transport|\b\d+(?: event streams| connections| pages)?\b/)
    )
    expect(parts.filter((part) => !source.includes(part.trim()))).toEqual([])
  })
})
