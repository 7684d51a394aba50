/**
 * A file of functions is camelCase, a module that is used as a namespace is PascalCase. `biome.namespaces.grit` refuses a namespace
 * import of a camelCase file; this is the other direction.
 */
import { readdirSync } from "node:fs"
import { basename, dirname, join, normalize } from "node:path"
import { expect, it } from "@effect/vitest"
import { read } from "./support/documents.ts"

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(folder, file))

it("a PascalCase file is used as a namespace, or exports its name", () => {
  const source = filesOf("src")
  const namespaces = new Set(
    [...source, ...filesOf("test")].flatMap((file) =>
      [...read(file).matchAll(/^(?:import|export)(?: type)? \* as \w+\s+from "(\..+)"/gm)].map(
        ([, from = ""]) => normalize(join(dirname(file), from))
      )
    )
  )
  const isNamed = (file: string) =>
    new RegExp(`^export .*\\b(?:class|interface|type|const) ${basename(file, ".ts")}\\b`, "m").test(
      read(file)
    )
  const others = source.filter(
    (file) => /^[A-Z]/.test(basename(file)) && !namespaces.has(file) && !isNamed(file)
  )
  expect(others).toEqual([])
})
