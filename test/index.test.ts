/**
 * The README's section "API" names every export of the package, what modules have in them, and nothing else.
 */
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as index from "../src/index.ts"
import * as plain from "../src/plain.ts"

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")

/** What stands below a heading, up to the next one of that level. */
const below = (heading: string, text: string): string => {
  const level = heading.slice(0, heading.indexOf(" ") + 1)
  const start = text.indexOf(`\n${heading}\n`)
  const end = text.indexOf(`\n${level}`, start + 1)
  return start === -1 ? "" : text.slice(start, end === -1 ? undefined : end)
}

const api = below("## API", read("README.md"))
const [ofIndex = "", ofPlain = ""] = api
  .split("\n### `vitrine/plain`\n")
  .map((part) => part.split("\n### Metrics")[0])

const inCode = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)

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
    part
      .split("\n")
      .filter((line) => line.startsWith("| `"))
      .map((line) => {
        const [name = "", members = "", ...rest] = line.split(/(?<!\\)\|/).slice(1, -1)
        return { name: inCode(name).join(), members: rest.length === 0 ? [] : inCode(members) }
      })
  )

const exported = (module: object) =>
  byName(
    Object.entries(module).map(([name, value]) => ({
      name,
      members: value[Symbol.toStringTag] === "Module" ? Object.keys(value).sort() : []
    }))
  )

const documentedTypes = (part: string) => inCode(/\nTypes: (.*?)\.\n/s.exec(part)?.[1] ?? "")

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

describe("the README's API", () => {
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

  it("names the metrics", () => {
    const rows = Object.keys(documented(below("### Metrics and spans", api)))
    expect(rows.filter((name) => name.startsWith("vitrine_")).sort()).toEqual(metricsInSource())
  })
})
