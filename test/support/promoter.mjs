/**
 * A controller of the built package, to be killed: `node promoter.mjs DOWNLOADS`. It says `ready` and waits for
 * a line on its standard input; then it promotes one version after the other, and says what it finds and does.
 *
 * Each source of a version holds the version's count, files, and attachments of which all but one are hard links
 * to those of the version before; `checksums.json` says what must be there.
 */
import { createHash } from "node:crypto"
import { readdirSync } from "node:fs"
import { link, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Stream from "effect/Stream"
import * as CommandBusMemory from "../../dist/layers/CommandBusMemory.js"
import * as ControllerStateMemory from "../../dist/layers/ControllerStateMemory.js"
import * as Content from "../../dist/layers/content/Content.js"
import * as VersionStoreDisk from "../../dist/layers/content/VersionStoreDisk.js"
import * as EventBusMemory from "../../dist/layers/EventBusMemory.js"
import { EventBus } from "../../dist/services/EventBus.js"

const [downloads = ""] = process.argv.slice(2)
const fileCount = 12
const attachmentCount = 6

const say = (line) => process.stdout.write(`${line}\n`)

const sha256 = (content) => createHash("sha256").update(content).digest("hex")

/** Content that is never the same twice, of up to 32 KiB. */
const contentOf = (name, count) =>
  `${name} of version ${count}\n`.repeat(1 + ((count * 7919 + name.length * 104729) % 1000))

const activeVersion = async () => {
  const text = await readFile(join(downloads, "manifest.json"), "utf8").catch(() => undefined)
  return text === undefined ? undefined : join(downloads, JSON.parse(text).versionPath)
}

const fetchInto = async (directory, id) => {
  const before = await activeVersion()
  const last = before && JSON.parse(await readFile(join(before, id, "checksums.json"), "utf8"))
  const count = (last?.count ?? 0) + 1
  const files = {}
  const save = async (name, content) => {
    await writeFile(join(directory, name), content)
    files[name] = sha256(content)
  }
  const names = Array.from({ length: fileCount }, (_, index) => `table ${index}.json`)
  await Promise.all(names.map((name) => save(name, contentOf(name, count))))
  await mkdir(join(directory, "attachments"))
  for (let index = 0; index < attachmentCount; index++) {
    const name = join("attachments", `picture ${index}.jpg`)
    if (before === undefined || index === count % attachmentCount) {
      await save(name, contentOf(name, count))
    } else {
      await link(join(before, id, name), join(directory, name))
      files[name] = last.files[name]
    }
  }
  await writeFile(join(directory, "checksums.json"), JSON.stringify({ count, files }))
  return { fingerprint: String(count), records: fileCount }
}

const source = (id) => ({ id, fetch: ({ directory }) => Effect.promise(() => fetchInto(directory, id)) })

const run = Effect.gen(function* () {
  say(`started ${JSON.stringify(readdirSync(join(downloads, ".staging")))}`)
  const bus = yield* EventBus
  const events = yield* bus.subscribe
  const begin = yield* Content.make({ fetchEvery: "0 millis" }, [source("objects"), source("rooms")])
  yield* begin
  yield* Stream.runForEach(events, ({ name, payload }) =>
    Effect.sync(() => {
      if (name === "content:version:promoted" || name === "content:fetch:error") {
        say(`${name} ${JSON.stringify(payload)}`)
      }
    })
  )
}).pipe(
  Effect.scoped,
  Effect.provide([
    VersionStoreDisk.layer({ directory: downloads, keepVersions: 2, ackLease: "1 hour" }).pipe(
      Layer.provide([NodeFileSystem.layer, NodePath.layer])
    ),
    EventBusMemory.layer,
    CommandBusMemory.layer,
    ControllerStateMemory.layer("persistent")
  ]),
  Effect.provide(
    Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ logLevel, message }) => {
        if (LogLevel.greaterThanEqual(logLevel, LogLevel.Warning)) {
          say(`logged ${message}`)
        }
      })
    )
  )
)

createInterface({ input: process.stdin }).once("line", () =>
  Effect.runPromise(run).catch((error) => say(`failed ${error.message}`))
)
say("ready")
