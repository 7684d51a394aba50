/**
 * The table of rules and readers: what a museum can rely on, whatever its content comes from. Each group of rules is
 * tried in a file of its own.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { files } from "./files.ts"
import { reasons } from "./harness.ts"
import { lists } from "./lists.ts"
import { names } from "./names.ts"
import { polls } from "./polls.ts"
import { readerNames } from "./readers.ts"
import { texts } from "./texts.ts"
import { versions } from "./versions.ts"

const rules = [...files, ...names, ...lists, ...texts, ...polls, ...versions].sort(
  (one, other) => one.number - other.number
)

const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const table = [
  line(["rule", "result", ...readerNames]),
  line(["---", "---", ...readerNames.map(() => ":-:")]),
  ...rules.map(({ cells, out, sentence }) =>
    line([sentence.replaceAll("|", "\\|"), out, ...cells.map(([, cell]) => cell)])
  ),
  "",
  ...Object.entries(reasons).map(([letter, reason]) => `- **${letter}**: ${reason}`),
  ""
].join("\n")

it("the table of rules in the documentation is this table", async () => {
  const path = "../../docs/content.md"
  const page = readFileSync(join(import.meta.dirname, path), "utf8")
  const [, begin = ""] = /^([\s\S]*?\n<!-- rules -->\n)/.exec(page) ?? []
  await expect(`${begin}\n${table}`).toMatchFileSnapshot(path)
})
