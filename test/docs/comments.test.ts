/**
 * The API page points to the doc comments of what the package exports: each export has one, with its version and category.
 */
import { dirname, join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { read } from "../support/documents.ts"

const declaration = /^export (?:declare |abstract |async )*(?:const|class|function|interface|type) (\w+)/gm

/** The exports of a file without such a doc comment, of all or of those that have one of the names. */
const undocumented = (file: string, names?: ReadonlyArray<string>): ReadonlyArray<string> => {
  const source = read(file)
  const declared = [...source.matchAll(declaration)].map(({ 1: name = "", index }) => ({
    name,
    hasComment: /(?:\n \* @since \d+\.\d+\.\d+\n \* @category \w+\n| @internal) \*\/\n(?:\/\/ .*\n)?$/.test(
      source.slice(0, index)
    )
  }))
  // The type of a schema has the comment of the schema.
  const commented = new Set(declared.filter(({ hasComment }) => hasComment).map(({ name }) => name))
  const own = declared
    .filter(({ name }) => !commented.has(name) && (names?.includes(name) ?? true))
    .map(({ name }) => `${file}: ${name}`)
  const named = [...source.matchAll(/^export (?:type )?\{([^}]+)\} from "(\..+)"/gm)].flatMap(
    ([, list = "", from = ""]) => {
      const given = list.split(",").map((item) =>
        item
          .trim()
          .replace(/^type /, "")
          .split(" as ")
      )
      const wanted = given.filter(([name = "", alias = name]) => names?.includes(alias) ?? true)
      return undocumented(
        join(dirname(file), from),
        wanted.map(([name = ""]) => name)
      )
    }
  )
  const exported = [...source.matchAll(/^export \{([^}]+)\}$/gm)].flatMap(([, list = ""]) =>
    list.split(/[\s,]+/)
  )
  const imported = [...source.matchAll(/^import \* as (\w+) from "(\..+)"/gm)].filter(([, name = ""]) =>
    exported.includes(name)
  )
  const whole = source.matchAll(/^export (?:type )?\* (as \w+ )?from "(\..+)"/gm)
  const modules = [...imported, ...whole].flatMap(([, , from = ""]) =>
    undocumented(join(dirname(file), from))
  )
  return [...new Set([...own, ...named, ...modules])]
}

describe("what the package exports has a doc comment", () => {
  it.each(["index", "plain", "nats", "client", "preview", "helpers", "fake", "vite", "testing"])(
    "from src/%s.ts",
    (entry) => {
      expect(undocumented(`src/${entry}.ts`)).toEqual([])
    }
  )
})
