/**
 * A reader of the downloads folders of several machines, in its own process: all of the active version, file by file,
 * again and again without a pause, and after whatever else has something to do on this machine.
 */
import { spawn } from "node:child_process"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Received from "./Received.ts"

const program = `
const { createHash } = require("node:crypto")
const { readFileSync } = require("node:fs")
const { constants, setPriority } = require("node:os")
const { join } = require("node:path")
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
const digest = (bytes) => createHash("sha256").update(bytes).digest("hex")
const machines = process.argv.slice(1).map((folder) => ({ folder, passes: 0, versions: 0, last: undefined }))
const wrong = []
const read = (machine) => {
  const manifest = JSON.parse(readFileSync(join(machine.folder, "manifest.json")))
  const version = join(machine.folder, manifest.versionPath)
  const list = readFileSync(join(version, "files.json"))
  if (digest(list) !== manifest.filesSha256) wrong.push(version + ": another files.json")
  for (const { files, sourceId } of JSON.parse(list).sources) {
    for (const [name, { sha256, size }] of Object.entries(files)) {
      const bytes = readFileSync(join(version, sourceId, name))
      if (bytes.length !== size || digest(bytes) !== sha256) wrong.push(join(version, sourceId, name) + " is another")
    }
  }
  machine.passes++
  machine.versions += machine.last === manifest.versionId ? 0 : 1
  machine.last = manifest.versionId
}
const turn = () => {
  for (const machine of machines) {
    try { read(machine) } catch (error) { wrong.push(String(error)) }
  }
  reading = setImmediate(turn)
}
let reading = setImmediate(turn)
process.stdin.resume().on("end", () => {
  clearImmediate(reading)
  console.log(JSON.stringify({ machines, wrong: wrong.slice(0, 10) }))
})`

const Seen = Schema.parseJson(
  Schema.Struct({
    machines: Schema.Array(Schema.Struct({ passes: Schema.Number, versions: Schema.Number })),
    /** Ten at most. */
    wrong: Schema.Array(Schema.String)
  })
)

/** Starts to read folders that have a version; the Effect that it gives ends the reading and returns what was seen. */
export const startVersionReader = Effect.fnUntraced(function* (folders: ReadonlyArray<string>) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, ["-e", program, ...folders], { stdio: ["pipe", "pipe", "inherit"] })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const output = Received.from(child.stdout)
  return Effect.gen(function* () {
    child.stdin.end()
    return yield* Schema.decode(Seen)(yield* output.whole)
  })
})
