/**
 * What the compiler of a strict project says of tables, with types that are declared and without.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "@effect/vitest"
import { compile } from "../../support/compile.ts"
import { repository } from "../../support/documents.ts"

const folders: Array<string> = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

const declared = `import type { Attachment } from "vitrine/client"

declare module "vitrine/client" {
  interface Content {
    exhibits: {
      Objects: ReadonlyArray<{
        readonly id: string
        readonly title: string
        readonly year?: number
        readonly photo?: ReadonlyArray<Attachment>
      }>
      Settings: { readonly slideSeconds?: number }
    }
  }
}
`

/** What is wrong with functions that are given a version, by their names. */
const compiled = (content: string, bodies: Readonly<Record<string, string>>) => {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-types-"))
  folders.push(folder)
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const compilerOptions = {
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["es2022", "dom", "dom.iterable"],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    paths: { "vitrine/client": [join(repository, "src/client.ts")] }
  }
  write("tsconfig.json", JSON.stringify({ compilerOptions }))
  write("vitrine.d.ts", content)
  for (const [name, body] of Object.entries(bodies)) {
    write(
      `${name}.ts`,
      `import { connect, type Row } from "vitrine/client"
export type Record = Row
connect({
  load: async (version) => {
    ${body}
  }
})
`
    )
  }
  return compile(folder).replace(/^.*\/(?=\w+\.ts\()/gm, "")
}

const ofOthers = `const events = await version.table("calendar", "Events")
    const rows: ReadonlyArray<Record> = events
    const asked: string = "calendar"
    const others: ReadonlyArray<Record> = await version.table(asked, "Events")
    interface Event { readonly id: string; readonly day: string }
    const given = await version.table<ReadonlyArray<Event>>("calendar", "Events")
    const taken: ReadonlyArray<Event> = await version.table("calendar", "Events")
    return [...rows, ...others, ...events, ...given, ...taken].map(({ id, day }) => [id.length, typeof day])`

describe("a table", { timeout: 60_000 }, () => {
  it("of a source that is declared has the fields that are declared, and others as before", () => {
    const declaredToo = `const objects = await version.table("exhibits", "Objects")
    const titles: ReadonlyArray<string> = objects.map(({ title }) => title)
    const years: ReadonlyArray<number | undefined> = objects.map(({ year }) => year)
    const { slideSeconds = 8 } = await version.table("exhibits", "Settings")
    const photos = objects.flatMap(({ photo = [] }) => photo)
    const pictures = photos.map((file) => version.picture("exhibits", file).src)
    return { titles, years, seconds: slideSeconds.toFixed(), pictures }`
    const own = `const objects = await version.table<ReadonlyArray<{ readonly own: string }>>("exhibits", "Objects")
    return objects.map(({ own }) => own.length)`
    expect(compiled(declared, { declaredToo, ofOthers, own })).toBe("")
  })

  it("of a source that is declared has no other fields, and no other name", () => {
    const field = `const objects = await version.table("exhibits", "Objects")
    return objects.map(({ titel }) => titel)`
    const name = `return await version.table("exhibits", "Objetcs")`
    expect(compiled(declared, { field, name })).toMatch(
      new RegExp(
        [
          /^field\.ts\(6,27\): error TS2339: Property 'titel' does not exist on type .*\n/,
          /name\.ts\(5,44\): error TS2769: No overload matches this call\.\n/,
          / {2}The last overload gave the following error\.\n/,
          / {4}Argument of type '"Objetcs"' is not assignable to parameter of type '"Objects" \| "Settings"'\.\n$/
        ]
          .map(({ source }) => source)
          .join("")
      )
    )
  })

  it("has records with an id where nothing is declared", () => {
    expect(compiled("export {}\n", { ofOthers })).toBe("")
  })
})
