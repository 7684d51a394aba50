import { expect, it } from "@effect/vitest"
import { below, codeIn, read, rowsOf } from "../../support/documents.ts"

/** The members of an interface that is exported. */
const membersIn = (file: string, name: string) => {
  const body =
    read(`src/layers/client/${file}.ts`).split(`export interface ${name}`)[1]?.split("\n}")[0] ?? ""
  return [...body.matchAll(/^ {2}readonly (\w+)/gm)].map(([, member = ""]) => member)
}

it.each([
  ["Options", "Options", "## Options"],
  ["state", "State", "## The state"],
  ["Version", "Version", "## The version"]
])("the page of the client names what %s has", (file, name, heading) => {
  const documented = rowsOf(below(heading, read("docs/page.md"))).flatMap(([cell = ""]) =>
    codeIn(cell).map((code) => code.replace(/\(.*/, ""))
  )
  expect(documented.toSorted()).toEqual(membersIn(file, name).toSorted())
})
