/**
 * The venue of the documentation: a hub, and players that copy what it has.
 */
import { execFile, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Manifest } from "../../src/services/VersionStore.ts"
import * as Received from "../support/Received.ts"
import * as TableServer from "../support/tableServer.ts"
import { eventually } from "../support/waiting.ts"

const inProject = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/** `npm run venue` on free ports, with what it writes in the folder. It is ended as by Ctrl-C. */
const startVenue = (folder: string, tables: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const jiti = inProject("node_modules/jiti/lib/jiti-cli.mjs")
      const venue = spawn(process.execPath, [jiti, inProject("scratchpad/venue/start.ts")], {
        env: { ...process.env, FREE_PORTS: "1", VENUE: folder, TABLES_URL: tables },
        stdio: ["ignore", "pipe", "inherit"]
      })
      const output = Received.from(venue.stdout)
      const ended = new Promise<void>((resolve) => venue.once("close", () => resolve()))
      return { ended, output, venue }
    }),
    ({ ended, venue }) =>
      Effect.promise(() => {
        venue.kill("SIGINT")
        return ended
      })
  )

/** What a command prints at the hub. */
const atHub = (folder: string, ...command: ReadonlyArray<string>) =>
  Effect.async<string>((resume) => {
    const hub = ["--config", inProject("scratchpad/venue/hub/vitrine.config.ts")]
    const args = [inProject("dist/bin.cjs"), ...command, ...hub, "--run-dir", `${folder}/.vitrine/hub`]
    execFile(process.execPath, args, (_, stdout, stderr) => resume(Effect.succeed(stdout + stderr)))
  })

const readJson = <A, I>(url: string, schema: Schema.Schema<A, I>) =>
  Effect.tryPromise(async (): Promise<unknown> => (await fetch(url)).json()).pipe(
    Effect.flatMap(Schema.decodeUnknown(schema))
  )

const Objects = Schema.Array(Schema.Struct({ title: Schema.String }))

/** The titles that the page of a player would show; none while there is nothing to show. */
const titles = (page: string) =>
  readJson(`${page}/manifest.json`, Manifest).pipe(
    Effect.flatMap(({ versionPath }) => readJson(`${page}/${versionPath}/exhibit/Objects.json`, Objects)),
    Effect.map((objects) => objects.map(({ title }) => title)),
    Effect.orElseSucceed((): ReadonlyArray<string> => [])
  )

it.scopedLive("a changed cell at the hub changes the pages of three players, and the hub shows that", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "vitrine-" }))
    const tables = `${folder}/tables`
    yield* fs.copy(inProject("scratchpad/exhibit/tables"), tables)
    const { url } = yield* TableServer.start(tables)
    const { output } = yield* startVenue(folder, url)
    const started = yield* output.until((text) => text.includes("The pages are at "))
    const pages = /The pages are at (.*)/.exec(started)?.[1]?.split(", ") ?? []
    expect(new Set(pages).size).toBe(3)

    const allShow = (title: string) =>
      Effect.forEach(pages, (page) => eventually(Effect.map(titles(page), (all) => all.includes(title))), {
        concurrency: "unbounded"
      })
    yield* allShow("The Penrice Fog Bell")
    for (const page of pages) {
      const index = yield* Effect.promise(async () => (await fetch(page)).text())
      expect(index).toContain('<script type="module"')
    }
    const objects = `${tables}/Objects.csv`
    const text = yield* fs.readFileString(objects)
    yield* fs.writeFileString(`${objects}.new`, text.replace("The Penrice Fog Bell", "A Changed Bell"))
    yield* fs.rename(`${objects}.new`, objects)
    yield* allShow("A Changed Bell")

    const versions = yield* Effect.forEach(pages, (page) => readJson(`${page}/manifest.json`, Manifest))
    expect(new Set(versions.map(({ versionId }) => versionId)).size).toBe(1)

    const fleet = atHub(folder, "fleet")
    yield* eventually(Effect.map(fleet, (text) => text.startsWith("3 of 3 players are up to date\n")))
    expect((yield* fleet).match(/Hall [123]/g)).toEqual(["Hall 1", "Hall 2", "Hall 3"])
    expect(yield* atHub(folder, "accept", "any", "exhibit")).toContain("There is nothing to accept")
  }).pipe(Effect.provide(NodeContext.layer))
)
