/**
 * Where Node's own requests and responses are used, past `@effect/platform`.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, sep } from "node:path"
import { expect, it } from "@effect/vitest"

const src = join(import.meta.dirname, "../src")

/** Folders whose files say what the platform would have to offer. */
const places = /^layers\/(?:server|[^/]+\/node)\//

const raw = /\b(?:NodeHttpServerRequest|IncomingMessage|ServerResponse|writableEnded)\b/

it("Node's own requests and responses are used in layers/server and in folders called node only", () => {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll(sep, "/"))
    .filter((file) => file.endsWith(".ts"))
  const using = files.filter((file) => raw.test(readFileSync(join(src, file), "utf8")))
  expect(using).not.toEqual([])
  expect(using.filter((file) => !places.test(file))).toEqual([])
})
