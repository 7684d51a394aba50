/**
 * Pages of a strict project, compiled with types of its content.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { compile } from "./compile.ts"
import { repository } from "./documents.ts"

const compilerOptions = {
  target: "es2022",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2022", "dom", "dom.iterable"],
  types: [],
  strict: true,
  skipDefaultLibCheck: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  paths: Object.fromEntries(
    ["client", "client/helpers", "client/fake"].map((name) => [
      `vitrine/${name}`,
      [join(repository, `src/${name.replace(/^.*\//, "")}.ts`)]
    ])
  )
}

/** The messages of the compiler about modules, by their names, beside a `vitrine.d.ts`. */
export const compileModules = (types: string, modules: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-types-"))
  try {
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
    write("tsconfig.json", JSON.stringify({ compilerOptions }))
    write("vitrine.d.ts", types)
    for (const [name, text] of Object.entries(modules)) write(`${name}.ts`, text)
    return compile(folder).replace(/^.*\/(?=[\w.]+\.ts\()/gm, "")
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The same of what `load` does with a version. The body begins in the fifth line. */
export const compileLoads = (types: string, bodies: Readonly<Record<string, string>>): string =>
  compileModules(
    types,
    Object.fromEntries(
      Object.entries(bodies).map(([name, body]) => [
        name,
        `import { connect, type Row } from "vitrine/client"
export type Record = Row
connect({
  load: async (version) => {
    ${body}
  }
})
`
      ])
    )
  )
