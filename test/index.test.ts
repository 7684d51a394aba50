/**
 * The documentation names the plugins and the modules of the package, its suites and its metrics.
 */
import { readdirSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as index from "../src/index.ts"
import * as nats from "../src/nats.ts"
import * as testing from "../src/testing.ts"
import { below, codeIn, read, rowsOf } from "./support/documents.ts"

const page = read("docs/effect.md")

const documented = codeIn(
  rowsOf(below("## Layers and services", page))
    .map(([service, , modules]) => `${service} ${modules}`)
    .join()
)

const isModule = (value: object) => Symbol.toStringTag in value && value[Symbol.toStringTag] === "Module"

const namesOf = (module: object, isNamed: (value: object) => boolean) =>
  Object.entries(module)
    .filter(([, value]) => isNamed(value))
    .map(([name]) => name)

/** The metrics that any file of the source names. */
const metricsInSource = () =>
  readdirSync(new URL("../src", import.meta.url), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [...read(`src/${file}`).matchAll(/"(vitrine_[a-z_]+)"/g)].map(([, name = ""]) => name))
    .sort()

describe("the documentation", () => {
  it("names the modules of vitrine, and no others", () => {
    const modulesOfNats = namesOf(nats, isModule).filter((name) => name !== "NatsConnection")
    // The platform's `HttpClient` is provided, but not exported.
    expect([...new Set(documented)].sort()).toEqual(
      ["HttpClient", ...namesOf(index, isModule), ...modulesOfNats].sort()
    )
  })

  it("lists a limited number of names", () => {
    expect(Object.keys(index).length).toBeLessThanOrEqual(70)
  })

  it("names the suites for tests of your own", () => {
    const named = codeIn(below("## Tests", page))
    expect(named).toEqual(expect.arrayContaining(Object.keys(testing)))
  })

  it("names the metrics", () => {
    const named = rowsOf(below("## Metrics", read("docs/dashboard.md"))).flatMap(([name = ""]) =>
      codeIn(name)
    )
    expect(named.sort()).toEqual(metricsInSource())
  })
})
