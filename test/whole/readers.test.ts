/**
 * Readers of the manifest in their own processes, while one version after the other is promoted: a few in memory, or
 * a thousand on the disk by `npm run kill`. `PROMOTIONS` says how many.
 */
import { spawn } from "node:child_process"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as VersionStoreDisk from "../../src/layers/versions/VersionStoreDisk.ts"
import { inMemory } from "../support/inMemory.ts"
import { promote } from "../support/promote.ts"
import * as Received from "../support/Received.ts"

const { PROMOTIONS, npm_lifecycle_event } = process.env
const isLong = PROMOTIONS !== undefined || npm_lifecycle_event === "kill"
const promotions = Number(PROMOTIONS ?? (isLong ? 1000 : 250))
const place = isLong ? {} : inMemory

/** Reads without a pause until its standard input ends, and tells how often, how much it saw, and what was wrong. */
const program = `
const { readFileSync } = require("node:fs")
const [folder] = process.argv.slice(1)
const seen = { reads: 0, versions: 0, wrong: [] }
let last = ""
const read = () => {
  for (let turn = 0; turn < 50; turn++, seen.reads++) {
    try {
      const { versionId, versionPath, sources } = JSON.parse(readFileSync(folder + "/manifest.json", "utf8"))
      if (versionId < last) seen.wrong.push(versionId + " after " + last)
      if (versionId > last) {
        seen.versions++
        const content = readFileSync(folder + "/" + versionPath + "/" + sources[0].path + "/Objects.json", "utf8")
        if (!/^content \\d+$/.test(content)) seen.wrong.push(versionId + " holds " + content)
      }
      last = versionId
    } catch (error) {
      seen.wrong.push(String(error))
    }
  }
  reading = setImmediate(read)
}
let reading = setImmediate(read)
process.stdin.resume().on("end", () => {
  clearImmediate(reading)
  console.log(JSON.stringify({ ...seen, last, wrong: seen.wrong.slice(0, 5) }))
})
console.log("reading")`

const Seen = Schema.parseJson(
  Schema.Struct({
    reads: Schema.Number,
    versions: Schema.Number,
    last: Schema.String,
    wrong: Schema.Array(Schema.String)
  })
)

/** Starts to read; the Effect that it gives ends the reading and tells what was seen. */
const startReader = Effect.fnUntraced(function* (folder: string) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, ["-e", program, folder], { stdio: ["pipe", "pipe", "inherit"] })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const output = Received.from(child.stdout)
  yield* output.until((text) => text.includes("reading"))
  return Effect.gen(function* () {
    child.stdin.end()
    return yield* Schema.decode(Seen)((yield* output.whole).replace("reading\n", ""))
  })
})

describe("a reader that polls the manifest without a pause", () => {
  it.live(
    "never finds it incomplete, missing, older than before, or with a version that does not exist",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped(place)
        yield* Effect.gen(function* () {
          yield* promote("content 0")
          const stop = yield* startReader(folder)
          let last = ""
          for (let count = 1; count <= promotions; count++) {
            last = (yield* promote(`content ${count}`)).manifest.versionId
          }
          const seen = yield* stop
          expect(seen).toMatchObject({ wrong: [], last })
          expect(seen.versions).toBeGreaterThan(1)
          if (isLong) {
            console.info(`${promotions} promotions: ${JSON.stringify(seen)}`)
          }
        }).pipe(
          Effect.provide(
            VersionStoreDisk.layer({
              directory: folder,
              keepVersions: 1000,
              ackLease: "30 minutes"
            })
          )
        )
      }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)),
    600_000
  )
})
