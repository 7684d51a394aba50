/**
 * From an edit to the screen's event, with nothing but real processes and sockets in between: a table server, a controller of the
 * built command line that asks it what has changed, and an event stream.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { makeProject, transportUrl } from "../support/project.ts"
import * as rawHttp from "../support/rawHttp.ts"
import * as TableServer from "../support/tableServer.ts"

const configuration = `import { content, defineConfig, httpTransport, tableSource } from "vitrine"
const source = (id: string, tables: ReadonlyArray<string>) =>
  tableSource({ id, baseId: "appMuseum", apiKey: "any", endpointUrl: process.env.TABLES ?? "", tables, changes: "webhook" })
export default defineConfig({
  plugins: [
    content({ fetchEvery: "1 second", sources: [source("objects", ["Objects", "Artists"]), source("rooms", ["Rooms"])] }),
    httpTransport({ port: 0 })
  ]
})
`

it.scopedLive("an edit in a table makes a new version, and nothing is read before it", () =>
  Effect.gen(function* () {
    const { folder, read, run, write } = yield* makeProject
    yield* write("vitrine.config.ts", configuration)
    yield* write("tables/Artists.csv", "name\nMaria\n")
    yield* write("tables/Rooms.csv", "name\nHall\n")
    const server = yield* Logger.withMinimumLogLevel(TableServer.start(`${folder}/tables`), LogLevel.Warning)
    const controller = yield* run(["start"], { TABLES: server.url })
    const first = yield* controller.logged(/New version (\S+):/)
    const connection = yield* rawHttp.connect(Number(new URL(yield* controller.logged(transportUrl)).port))
    connection.send(rawHttp.format({ target: "/events" }))
    const events = connection.received
    yield* events.until((text) => text.includes(`"versionId":"${first}"`))
    const before = yield* server.requests

    let shown: ReadonlyArray<string> = [first]
    for (const [table, content, file] of [
      ["Rooms", "name\nAttic\n", "rooms/Rooms.json"],
      ["Artists", "name\nAlbrecht\n", "objects/Artists.json"]
    ] as const) {
      yield* write(`tables/${table}.csv`, content)
      const text = yield* events.until((text) => promotedIn(text).length > shown.length)
      shown = promotedIn(text)
      const saved = yield* read(`downloads/versions/${shown.at(-1)}/${file}`)
      expect(saved).toContain(content.split("\n")[1])
    }

    expect(shown).toHaveLength(3)
    expect(new Set(shown).size).toBe(3)
    // Each of both sources reads its tables once for each edit in their base.
    const { tables } = yield* server.requests
    expect(tables).toEqual({
      Objects: (before.tables.Objects ?? 0) + 2,
      Artists: (before.tables.Artists ?? 0) + 2,
      Rooms: (before.tables.Rooms ?? 0) + 2
    })
    yield* controller.signal("SIGTERM")
    const { status, stderr } = yield* controller.ended
    expect(status).toBe(0)
    expect(stderr).not.toMatch(/ {2}warn | {2}error|error:/)
  }).pipe(Effect.provide(NodeContext.layer))
)

const promotedIn = (stream: string): ReadonlyArray<string> =>
  [...stream.matchAll(/^event: content:version:promoted\r?\ndata: \{"versionId":"([^"]+)"/gm)].map(
    ([, versionId = ""]) => versionId
  )
