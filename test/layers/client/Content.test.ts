/**
 * How a strict project compiles with tables, with declared types and without.
 */
import { describe, expect, it } from "@effect/vitest"
import { compileLoads, compileModules } from "../../support/pageTypes.ts"

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

const ofOthers = `const events = await version.table("calendar", "Events")
    const rows: ReadonlyArray<Record> = events
    const asked: string = "calendar"
    const others: ReadonlyArray<Record> = await version.table(asked, "Events")
    interface Event { readonly id: string; readonly day: string }
    const given = await version.table<ReadonlyArray<Event>>("calendar", "Events")
    const taken: ReadonlyArray<Event> = await version.table("calendar", "Events")
    return [...rows, ...others, ...events, ...given, ...taken].map(({ id, day }) => [id.length, typeof day])`

describe("a table", { timeout: 60_000 }, () => {
  it("of a declared source has the declared fields, and no other fields and no other name", () => {
    const declaredToo = `const objects = await version.table("exhibits", "Objects")
    const titles: ReadonlyArray<string> = objects.map(({ title }) => title)
    const years: ReadonlyArray<number | undefined> = objects.map(({ year }) => year)
    const { slideSeconds = 8 } = await version.table("exhibits", "Settings")
    const photos = objects.flatMap(({ photo = [] }) => photo)
    const pictures = photos.map((file) => version.picture("exhibits", file).src)
    return { titles, years, seconds: slideSeconds.toFixed(), pictures }`
    const own = `const objects = await version.table<ReadonlyArray<{ readonly own: string }>>("exhibits", "Objects")
    return objects.map(({ own }) => own.length)`
    const field = `const objects = await version.table("exhibits", "Objects")
    return objects.map(({ titel }) => titel)`
    const name = `return await version.table("exhibits", "Objetcs")`
    // Only the two with a mistake have one.
    expect(compileLoads(declared, { declaredToo, ofOthers, own, field, name })).toMatch(
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

  it("has records with an id if nothing is declared", () => {
    expect(compileLoads("export {}\n", { ofOthers })).toBe("")
  })
})

describe("other modules of the client", { timeout: 60_000 }, () => {
  it("have the types of tables: the fake, language() and current()", () => {
    const types = `export {}
declare module "vitrine/client" {
  interface Content {
    exhibits: {
      Objects: ReadonlyArray<{ readonly id: string; readonly title_de?: string; readonly title_en: string; readonly begin?: string }>
      Settings: { readonly slideSeconds?: number }
    }
  }
}
`
    const page = `import { connect } from "vitrine/client"
import { fake } from "vitrine/client/fake"
import { current, language } from "vitrine/client/helpers"
const controls = fake({ exhibits: { Objects: [{ id: "1", title_en: "Bell" }] }, others: { Any: [] } })
const like: typeof connect = controls.connect
like({
  load: async (version) => language(await version.table("exhibits", "Objects"), "de", "en"),
  show: (rows) => {
    const titles: ReadonlyArray<string | undefined> = rows.map(({ title }) => title)
    current(rows, { from: "begin" }, (valid) => [titles, valid.map(({ title }) => title)])
    // @ts-expect-error: no field
    current(rows, { from: "beginn" }, () => {})
  }
})
// @ts-expect-error: no column
fake({ exhibits: { Objects: [{ id: "1", titel_en: "Bell" }] } })
`
    expect(compileModules(types, { page })).toBe("")
  })
})
