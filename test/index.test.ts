/**
 * The API page names every export of the package, what modules have in them, and nothing else.
 */
import { readdirSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as index from "../src/index.ts"
import * as nats from "../src/nats.ts"
import * as plain from "../src/plain.ts"
import * as testing from "../src/testing.ts"
import { below, codeIn, read, rowsOf } from "./support/documents.ts"

const api = read("docs/api.md")
/** Below "Configuration" are the tables of options as well. */
const ofIndex = [
  below("## Configuration", api).split("\n### ")[0],
  below("## Layers and services", api)
].join("\n")
const ofPlain = below("## `vitrine/plain`", api)
const ofNats = below("## `vitrine/nats`", api).split("\n### ")[0] ?? ""
const ofClient = below("## `vitrine/client`", api)
const ofTesting = below("## `vitrine/testing`", api)

interface Export {
  readonly name: string
  /** Of a module. */
  readonly members: ReadonlyArray<string>
}

const byName = (exports: ReadonlyArray<Export>) =>
  Object.fromEntries(exports.map(({ members, name }) => [name, members]))

/** The rows of all tables; those of three columns are of modules. */
const documented = (part: string) =>
  byName(
    rowsOf(part).map(([name = "", members = "", ...rest]) => ({
      name: codeIn(name).join(),
      members: rest.length === 0 ? [] : codeIn(members)
    }))
  )

const exported = (module: object) =>
  byName(
    Object.entries(module).map(([name, value]) => ({
      name,
      members: value[Symbol.toStringTag] === "Module" ? Object.keys(value).sort() : []
    }))
  )

const documentedTypes = (part: string) => codeIn(/\nTypes: (.*?)\.\n/s.exec(part)?.[1] ?? "")

/** The names in the source that are exported as a type only. */
const exportedTypes = (source: string) =>
  [
    ...[...source.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, isType, names = ""]) =>
      names
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "" && (isType !== undefined || name.startsWith("type ")))
        .map((name) => name.replace(/^type /, "").replace(/^.* as /, ""))
    ),
    ...[...source.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = ""]) => name)
  ].sort()

/** The metrics that any file of the source names. */
const metricsInSource = () =>
  readdirSync(new URL("../src", import.meta.url), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [...read(`src/${file}`).matchAll(/"(vitrine_[a-z_]+)"/g)].map(([, name = ""]) => name))
    .sort()

describe("the API page", () => {
  it("names the exports of vitrine", () => {
    expect(documented(ofIndex)).toEqual(exported(index))
  })

  it("names the types of vitrine", () => {
    expect(documentedTypes(ofIndex)).toEqual(exportedTypes(read("src/index.ts")))
  })

  it("names the exports of vitrine/plain", () => {
    expect(documented(ofPlain)).toEqual(exported(plain))
  })

  it("names the types of vitrine/plain", () => {
    expect(documentedTypes(ofPlain)).toEqual(exportedTypes(read("src/plain.ts")))
  })

  it("names the exports of vitrine/nats", () => {
    expect(documented(ofNats)).toEqual(exported(nats))
  })

  it("names the types of vitrine/nats", () => {
    expect(documentedTypes(ofNats)).toEqual(exportedTypes(read("src/nats.ts")))
  })

  it("names the types of vitrine/client", () => {
    expect(documentedTypes(ofClient)).toEqual(exportedTypes(read("src/client.ts")))
  })

  it("names the exports of vitrine/testing", () => {
    expect(documented(ofTesting)).toEqual(exported(testing))
  })

  it("names the types of vitrine/testing", () => {
    expect(documentedTypes(ofTesting)).toEqual(exportedTypes(read("src/testing.ts")))
  })

  it("names the metrics", () => {
    const rows = Object.keys(documented(below("## Metrics and spans", api)))
    expect(rows.filter((name) => name.startsWith("vitrine_")).sort()).toEqual(metricsInSource())
  })
})
