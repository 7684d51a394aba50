/**
 * The commands are described once, by `--help`: `npx vitest run test/docs/commands -u` writes their tables. The dashboard asks with the
 * same words.
 */
import { describe, expect, it } from "@effect/vitest"
import { makeProgram } from "../../src/layers/cli/program.ts"
import { withCommandTables } from "../support/commandTables.ts"
import { below, codeIn, read, rowsOf } from "../support/documents.ts"

const program = makeProgram("1.2.3", () => {})

it("the tables of commands and options are those of --help", async () => {
  const page = withCommandTables(read("docs/operate.md"), "## Commands", program)
  await expect(page).toMatchFileSnapshot("../../docs/operate.md")
})

/** The last sentence of a text: what happens to newer versions. */
const lastSentence = (text: string) => text.split(/(?<=[.?]) /).at(-1)

describe("what holds a version is said in the same words", () => {
  const rows = rowsOf(below("## Hold, release, resume and rollback", read("docs/operate.md")))
  const page = read("src/layers/dashboard/page/content.js")

  it.each(rows.map(([command = "", button = ""]) => [codeIn(command)[0] ?? "", button.replaceAll("*", "")]))(
    "by %s and by the button %s",
    (usage, button) => {
      const [, name] = usage.split(" ")
      const command = program.commands.find((command) => command.name() === name)
      expect(page).toContain(`"${button}"`)
      expect(page).toContain(lastSentence(command?.description() ?? "nothing"))
    }
  )
})
