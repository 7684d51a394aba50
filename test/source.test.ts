/**
 * Rules of the source that a linter cannot check.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, sep } from "node:path"
import { expect, it } from "@effect/vitest"

const src = join(import.meta.dirname, "../src")

const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll(sep, "/"))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ file, text: readFileSync(join(src, file), "utf8") }))

/** Folders whose files may use the APIs of Node directly. */
const places = /^layers\/(?:http|[^/]+\/node)\//

const raw = /\b(?:NodeHttpServerRequest|IncomingMessage|ServerResponse|writableEnded)\b/

it("Node's own requests and responses are used only in layers/http and in folders called node", () => {
  const using = files.filter(({ text }) => raw.test(text)).map(({ file }) => file)
  expect(using).not.toEqual([])
  expect(using.filter((file) => !places.test(file))).toEqual([])
})

it("only the module that the first HTTP request loads imports undici, which is slow to load", () => {
  const importing = files.filter(({ text }) =>
    /from "@effect\/platform-node(?:\/NodeHttp|\/Undici|")/.test(text)
  )
  expect(importing.map(({ file }) => file)).toEqual(["layers/httpClient/agent.ts"])
})

it("the tags of all errors begin with the name of the package", () => {
  const tags = files.flatMap(({ text }) =>
    [...text.matchAll(/TaggedError(?:<\w+>\(\))?\(\s*"([^"]+)"/g)].map(([, tag]) => tag)
  )
  expect(tags.length).toBeGreaterThan(50)
  expect(tags.filter((tag) => !tag?.startsWith("vitrine/"))).toEqual([])
})
