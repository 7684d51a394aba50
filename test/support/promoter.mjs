/**
 * A controller of the built package, to be killed: `node promoter.mjs DOWNLOADS TABLES ENDPOINT`. It says `ready` and
 * waits for a line on its standard input; then it edits the tables and fetches them from the table server at the
 * endpoint, over and over, and says what it finds and does. With `undo` as a fourth argument it fetches nothing by itself: ticks ask
 * what has changed and read that. Meanwhile it rolls back, holds and resumes, at random.
 *
 * All records of one edition have its number, and the settings say how much there is of everything. From one edition to
 * the next, one picture is replaced, and the film.
 */
import { readdirSync } from "node:fs"
import { readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import * as ControllerStateMemory from "../../dist/layers/controller/ControllerStateMemory.js"
import * as Content from "../../dist/layers/fetching/Content.js"
import * as HttpClientNode from "../../dist/layers/httpClient/HttpClientNode.js"
import * as CommandBusMemory from "../../dist/layers/memory/CommandBusMemory.js"
import * as EventBusMemory from "../../dist/layers/memory/EventBusMemory.js"
import { tableSource } from "../../dist/layers/sources/tables/airtableSource.js"
import * as VersionStoreDisk from "../../dist/layers/versions/VersionStoreDisk.js"
import { CommandBus } from "../../dist/services/CommandBus.js"
import { SourceFolder } from "../../dist/services/ContentSource.js"
import { EventBus } from "../../dist/services/EventBus.js"
import { RequestPacing } from "../../dist/services/RequestPacing.js"

const [downloads = "", tables = "", endpointUrl = "", mode = ""] = process.argv.slice(2)

const say = (line) => process.stdout.write(`${line}\n`)

const rows = (count, row) => Array.from({ length: count }, (_, index) => row(index))

const attachments = readdirSync(tables).toSorted()
const pictures = attachments.filter((file) => file.endsWith(".jpg"))
const films = attachments.filter((file) => file.endsWith(".mp4"))

/** More records than a page holds; with each edition the pictures move up by one. */
const tablesOf = (edition) => ({
  Objects: rows(150, (index) => ({
    name: `object ${index}`,
    edition,
    text: `${index} of ${edition}, `.repeat(index % 50),
    pictures: index < 8 ? [{ file: pictures[(edition + index) % pictures.length] }] : []
  })),
  Settings: Object.entries({ edition, objects: 150, pictures: 8, rooms: 10, films: 1 }).map(
    ([key, value]) => ({
      key,
      value
    })
  ),
  Rooms: rows(10, (index) => ({
    name: `room ${index}`,
    edition,
    film: index === 0 ? [{ file: films[edition % films.length] }] : []
  }))
})

/** No poll sees half an edit. */
const editing = Effect.unsafeMakeSemaphore(2)

/** The number is read from the table that is written last. */
const edit = editing.withPermits(2)(
  Effect.promise(async () => {
    const last = await readFile(join(tables, "Rooms.json"), "utf8").catch(() => undefined)
    const edition = last === undefined ? 1 : JSON.parse(last)[0].edition + 1
    for (const [table, rows] of Object.entries(tablesOf(edition))) {
      await writeFile(join(tables, `.${table}`), JSON.stringify(rows))
      await rename(join(tables, `.${table}`), join(tables, `${table}.json`))
    }
  })
)

const source = (id, selection) => {
  const definition = tableSource({
    id,
    baseId: "exhibits",
    apiKey: "any",
    endpointUrl,
    defaultView: null,
    changes: "webhook",
    ...selection
  })
  const make = Effect.map(definition.make, (source) => ({
    ...source,
    poll: (cursor) => editing.withPermits(1)(source.poll(cursor))
  }))
  return { ...definition, make }
}

const sources = [
  source("objects", { tables: ["Objects"], keyValueTables: ["Settings"] }),
  source("rooms", { tables: ["Rooms"] })
]

/** More ticks than the options allow. */
const makeContent = Effect.all(sources.map(({ make }) => make)).pipe(
  Effect.provideService(SourceFolder, Option.some(join(downloads, ".sources"))),
  Effect.flatMap((sources) =>
    Content.fromSources(mode === "undo" ? { fetchEvery: "50 millis" } : {}, sources)
  )
)

/** Without a pause: this server has no limit. */
const unpaced = Layer.succeed(RequestPacing, {
  pacer: () => Effect.succeed({ take: Effect.void, hold: () => Effect.void })
})

/** There may be nothing yet that could be undone. */
const undo = Effect.gen(function* () {
  const { dispatch } = yield* CommandBus
  const type = yield* Random.choice(["content.rollback", "content.hold", "content.release", "content.resume"])
  say(`undoing ${type}`)
  // Half of the holds end by themselves, about when the next step begins.
  const end =
    type === "content.hold" && (yield* Random.nextBoolean)
      ? { until: `${yield* Random.nextIntBetween(5, 100)} millis` }
      : {}
  const result = yield* Effect.orElseSucceed(dispatch({ type, by: "promoter", ...end }), () => undefined)
  say(`undone ${JSON.stringify(result ?? null)}`)
  yield* Effect.sleep(yield* Random.nextRange(0, 60))
})

const run = Effect.gen(function* () {
  say(`started ${JSON.stringify(readdirSync(join(downloads, ".staging")))}`)
  const events = yield* (yield* EventBus).subscribe
  const done = yield* Queue.unbounded()
  yield* Effect.forkScoped(
    Stream.runForEach(events, ({ name, payload }) =>
      Effect.sync(() => {
        if (name !== "content:source:progress" || payload.attachments !== undefined) {
          say(`${name} ${JSON.stringify(payload)}`)
        }
        if (name === "content:fetch:done") {
          done.unsafeOffer(payload)
        }
      })
    )
  )
  const { fetch, start } = yield* Content.Content
  yield* edit
  yield* start
  if (mode === "undo") {
    yield* Effect.forkScoped(Effect.forever(undo))
  }
  // The first one joins that of the start.
  yield* Effect.forever(Effect.zipRight(mode === "undo" ? Queue.take(done) : fetch, edit))
}).pipe(
  Effect.scoped,
  Effect.provide(
    Layer.scoped(Content.Content, makeContent).pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          VersionStoreDisk.layer({ directory: downloads, keepVersions: 2, ackLease: "1 hour" }),
          EventBusMemory.layer,
          CommandBusMemory.layer,
          ControllerStateMemory.layer("persistent"),
          HttpClientNode.layer,
          unpaced
        )
      ),
      Layer.provide([NodeFileSystem.layer, NodePath.layer])
    )
  ),
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
  Effect.runPromise(run).catch((error) => {
    say(`failed ${error.message}`)
    // Nobody shall wait for what it would have said.
    process.exit(1)
  })
)
say("ready")
