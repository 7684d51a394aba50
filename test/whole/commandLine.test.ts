import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { promisify } from "node:util"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import Airtable from "airtable"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { listen } from "../../src/layers/http/Listen.ts"
import { makeProject, transportUrl } from "../support/project.ts"
import * as rawHttp from "../support/rawHttp.ts"
import { listenIn } from "../support/strangeController.ts"
import type { VitrineProcess } from "../support/vitrineProcess.ts"

/** 3,201 films, from the dev dependency vega-datasets. */
const moviesFile = new URL("../../node_modules/vega-datasets/data/movies.json", import.meta.url)

const portOf = (url: string) => Number(new URL(url).port)

/** Opens the event stream of a running controller. */
const openEvents = Effect.fnUntraced(function* (controller: VitrineProcess) {
  const url = yield* controller.logged(transportUrl)
  const connection = yield* rawHttp.connect(portOf(url))
  connection.send(rawHttp.format({ target: "/events" }))
  return connection.received
})

const command = (url: string, body: object) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}/command`, { method: "POST", body: JSON.stringify(body) })
    return response.json()
  })

/** What another program writes. The tests beside this one go on meanwhile. */
const outputOf = (program: string, args: ReadonlyArray<string>, cwd: string) =>
  Effect.promise(async () => (await promisify(execFile)(program, args, { cwd })).stdout.trim())

const project = makeProject.pipe(Effect.provide(NodeContext.layer))

describe.concurrent("vitrine", () => {
  const scenario: typeof it.scopedLive = it.scopedLive

  scenario("fetches, serves the manifest, announces what is promoted, and shows an edit", () =>
    Effect.gen(function* () {
      const { read, run, serveTables, write } = yield* project
      const controller = yield* run(["start"], { TABLES: yield* serveTables() })
      const versionId = yield* controller.logged(/New version (\S+):/)
      const url = yield* controller.logged(transportUrl)

      const events = yield* openEvents(controller)
      const first = yield* events.until((text) => text.includes("content:version:promoted"))
      expect(first).toMatch(
        new RegExp(
          `\\r\\n\\r\\nretry: 2000\\n\\nevent: content:version:promoted\\ndata: {"versionId":"${versionId}",`
        )
      )

      expect(yield* command(url, { type: "content.manifest.read" })).toEqual({
        result: { status: "ok", manifest: JSON.parse(yield* read("downloads/manifest.json")) }
      })
      expect(yield* command(url, { type: "content.ack", consumerId: "screen-1", versionId })).toEqual({
        result: null
      })
      expect(JSON.parse(yield* read("downloads/acks/screen-1.json"))).toEqual({ versionId })

      yield* write("tables/Objects.csv", "inventory,title\nA-1,Armillary sphere\n")
      const second = yield* controller.logged(/New version [\s\S]*New version (\S+):/)
      yield* events.until((text) => text.includes(`"versionId":"${second}"`))
      expect(JSON.parse(yield* read(`downloads/versions/${second}/museum/Objects.json`))).toEqual([
        { id: expect.stringMatching(/^rec\w{14}$/), inventory: "A-1", title: "Armillary sphere" }
      ])
    })
  )

  scenario("fails with a message when a fetch is interrupted", () =>
    Effect.gen(function* () {
      const { run } = yield* project
      const asked = yield* Deferred.make<void>()
      const silent = createServer(() => Deferred.unsafeDone(asked, Effect.void))
      const { port } = yield* listen(silent, { host: "127.0.0.1", port: 0 })
      const fetching = yield* run(["fetch"], { TABLES: `http://127.0.0.1:${port}` })
      yield* Deferred.await(asked)
      yield* fetching.signal("SIGTERM")
      expect(yield* fetching.ended).toMatchObject({
        status: 1,
        stdout: "",
        stderr: expect.stringMatching(
          /^\d\d:\d\d:\d\d {2}info {3}museum: Objects\nInterrupted before the end; the content stays as it is\.\n$/
        )
      })
    })
  )

  scenario("fetches every record of a large table, as the official client reads it", () =>
    Effect.gen(function* () {
      const { read, run, serveTables, write } = yield* project
      yield* write("tables/Movies.json", readFileSync(moviesFile, "utf8"))
      const endpointUrl = yield* serveTables({ rateLimit: false })
      const base = new Airtable({ endpointUrl, apiKey: "any" }).base("appMuseum")
      const theirs = yield* Effect.promise(() => base("Movies").select({ view: "Grid view" }).all())

      const { ended } = yield* run(["fetch"], { TABLES: endpointUrl, TABLE: "Movies" })
      const { status, stdout } = yield* ended
      expect(status).toBe(0)
      const { records, versionId } = JSON.parse(stdout)
      const ours = JSON.parse(yield* read(`downloads/versions/${versionId}/museum/Movies.json`))
      expect(records).toBe(3201)
      expect(ours).toEqual(theirs.map(({ fields, id }) => ({ id, ...fields })))
    })
  )

  scenario(
    "reports a failure in one message without a stack and without the token, and keeps the version",
    () =>
      Effect.gen(function* () {
        const { read, run, serveTables } = yield* project
        const TABLES = yield* serveTables({ token: "secret-key" })
        const fetching = yield* run(["fetch"], { TABLES })
        expect(yield* fetching.ended).toMatchObject({ status: 0 })
        const manifest = yield* read("downloads/manifest.json")
        const bad = yield* run(["fetch"], { TABLES, KEY: "wrong-key" })
        const { status, stderr, stdout } = yield* bad.ended
        expect({ status, stdout }).toEqual({ status: 1, stdout: "" })
        expect(stderr).toMatch(/Source "museum": Table "Objects": .*apiKey/)
        expect(stderr).not.toMatch(/^\s+at |secret-key|wrong-key/m)
        expect(yield* read("downloads/manifest.json")).toBe(manifest)
      })
  )

  scenario("reports every mistake in the configuration at once", () =>
    Effect.gen(function* () {
      const { folder, run, write } = yield* project
      yield* write(
        "vitrine.config.ts",
        `import { content, defineConfig, httpTransport, tableSource } from "vitrine"
export default defineConfig({
  plugins: [
    content({ keepVersions: 0, sources: [tableSource({ id: "a/b", baseId: "", apiKey: "secret-key", tabels: [] })] }),
    httpTransport({ port: 99999, allowedCommand: [] })
  ]
})`
      )
      const { ended } = yield* run(["start"])
      const { status, stderr } = yield* ended
      expect(status).toBe(1)
      expect(stderr).toContain(`${folder}/vitrine.config.ts`)
      for (const place of [
        "plugins[0] (content).keepVersions",
        "plugins[0] (content).sources[0].id",
        "plugins[0] (content).sources[0].baseId",
        "plugins[0] (content).sources[0].tabels",
        "plugins[1] (http-transport).port",
        "plugins[1] (http-transport).allowedCommand"
      ]) {
        expect(stderr).toContain(`${place}: `)
      }
      expect(stderr).not.toContain("secret-key")
    })
  )

  scenario("prints the progress of a fetch line by line, and what it waits for", () =>
    Effect.gen(function* () {
      const { run, serveTables } = yield* project
      const tables = yield* serveTables({ faults: ["Objects 503 x1"] })
      const { ended } = yield* run(["fetch"], { TABLES: tables })
      const { status, stderr, stdout } = yield* ended
      expect(status).toBe(0)
      expect(stderr.replace(/^\d\d:\d\d:\d\d {2}info {3}/gm, "")).toMatch(
        new RegExp(
          [
            "^museum: Objects",
            "museum: Objects; waiting until \\d\\d:\\d\\d:\\d\\d for another try",
            "museum: done, 2 records, \\d+ bytes, in \\d\\.\\d s",
            "New version \\w+: 2 records, fetched in \\d\\.\\d s\n$"
          ].join("\n")
        )
      )
      expect(JSON.parse(stdout)).toMatchObject({ changed: true, records: 2 })
    })
  )

  scenario("shows progress in one line on a terminal with the log above, and leaves both there", () =>
    Effect.gen(function* () {
      const { run, serveTables } = yield* project
      const tables = yield* serveTables({ faults: ["Objects 503 x1"] })
      const { ended } = yield* run(["fetch"], { TABLES: tables, TERM: "xterm" }, { onTerminal: true })
      const { status, stdout } = yield* ended
      expect(status).toBe(0)
      expect(stdout).toContain("░░░░░░░░░░░░░░░░░░░░ 0/1 museum: Objects")
      const end = stdout.slice(stdout.indexOf("New version"))
      expect(end).toMatch(/^New version \w+: 2 records, fetched in [\s\S]*█{20} 1\/1 museum: 2 records/)
      expect(JSON.parse(end.slice(end.indexOf("{")))).toMatchObject({ changed: true })
    })
  )

  scenario("shows a status of very many rows", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* project
      const row = { type: "kv", label: "Screen", value: "shows it" }
      const section = { name: "screens", title: "Screens", rows: Array.from({ length: 150_000 }, () => row) }
      const header = { startTime: new Date().toISOString(), mode: "persistent", uptimeMs: 1000 }
      const parts = { problems: [], contents: [], screens: [], mutes: [] }
      const answers: Readonly<Record<string, object>> = {
        "/view": { header, sections: [section], now: Date.now(), word: "OK", ...parts }
      }
      yield* listenIn(folder, (path) => [200, answers[path]]).pipe(Effect.provide(NodeContext.layer))
      const { status, stderr, stdout } = yield* Effect.flatMap(run(["status"]), ({ ended }) => ended)
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
      expect(stdout.match(/Screen {2}shows it/g)).toHaveLength(150_000)
    })
  )

  scenario("reads the environment from a file, and logs JSON lines without the token", () =>
    Effect.gen(function* () {
      const { run, serveTables, write } = yield* project
      const tables = yield* serveTables({ token: "from-file" })
      yield* write("museum.env", "# for the exhibit\nKEY=from-file\nTABLE='Objects'\n")
      const { ended } = yield* run(["fetch", "--env-file", "museum.env", "--log-format", "json"], {
        TABLES: tables
      })
      const { status, stderr } = yield* ended
      expect(status).toBe(0)
      const lines = stderr
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
      expect(lines.at(-1)).toMatchObject({
        logLevel: "INFO",
        message: expect.stringMatching(/^New version \w+: 2 records/)
      })
      expect(stderr).not.toContain("from-file")
      const missing = yield* Effect.flatMap(run(["fetch", "--env-file", "other.env"]), ({ ended }) => ended)
      // Some versions of Node read the option themselves, and say so in their own words.
      expect(missing.status).not.toBe(0)
      expect(missing.stderr).toContain("other.env")
    })
  )

  scenario("runs from its modules where another version of Effect is installed than in the bundle", () =>
    Effect.gen(function* () {
      const { folder } = yield* project
      const modules = new URL("../../dist/commandLine.js", import.meta.url)
      const program = `(await import(${JSON.stringify(modules)})).run({ name: "init", options: {}, args: ["new"] })`
      const args = ["--input-type=module", "-e", program]
      expect(yield* outputOf(process.execPath, args, folder)).toContain("made   vitrine.config.ts")
    })
  )

  scenario("does not fail when nobody reads its output and its log", () =>
    Effect.gen(function* () {
      const { run, serveTables } = yield* project
      const by = ["bash", "-c", '"$@" 2>&1 | true; exit $PIPESTATUS', "bash"]
      const TABLES = yield* serveTables()
      const status = (...args: ReadonlyArray<string>) =>
        Effect.flatMap(run(args, { TABLES }, { by }), ({ ended }) =>
          Effect.map(ended, ({ status }) => status)
        )
      expect(yield* status("fetch")).toBe(0)
      expect(yield* status("fetch", "--config", "missing.ts")).toBe(1)
    })
  )

  scenario("prints its version, and what was perhaps meant by an unknown command", () =>
    Effect.gen(function* () {
      const { run } = yield* project
      const version = yield* Effect.flatMap(run(["--version"]), ({ ended }) => ended)
      expect(version).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\s*$/) })
      const unknown = yield* Effect.flatMap(run(["strat"]), ({ ended }) => ended)
      expect(unknown.status).toBe(1)
      expect(unknown.stderr).toBe(
        "error: unknown command 'strat'\n(Did you mean start?)\nSee: vitrine --help\n"
      )
    })
  )
})
