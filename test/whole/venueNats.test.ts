/**
 * The example of a controller in three processes on NATS, started by its one command.
 */
import { spawn } from "node:child_process"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as eventReader from "../support/eventReader.ts"
import type { Message } from "../support/eventStream.ts"
import { freePort } from "../support/freePort.ts"
import { insist, until } from "../support/natsInstance.ts"
import { isMissing } from "../support/programs.ts"
import * as Received from "../support/Received.ts"

const inProject = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const jiti = createRequire(import.meta.url)
  .resolve("jiti/package.json")
  .replace("package.json", "lib/jiti-cli.mjs")

/** The example, with everything that it writes in a temporary folder; it ends with the scope. */
const startVenue = (more: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "vitrine-" }))
    yield* fs.copy(inProject("scratchpad/venue-nats/content/tables"), `${folder}/tables`)
    const [nats, tables, one, two] = [yield* freePort, yield* freePort, yield* freePort, yield* freePort]
    const env = {
      ...process.env,
      DATA: folder,
      TABLES: `${folder}/tables`,
      NATS_PORT: String(nats),
      TABLES_PORT: String(tables),
      SCREENS_1_PORT: String(one),
      SCREENS_2_PORT: String(two),
      ...more
    }
    const said = Received.make()
    const ended = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const child = spawn(process.execPath, [jiti, inProject("scratchpad/venue-nats/start.ts")], { env })
        child.stdout.on("data", said.append)
        child.stderr.on("data", said.append)
        const ended = new Promise<number | null>((resolve) => {
          child.once("close", (status) => {
            said.end()
            resolve(status)
          })
        })
        return { child, ended }
      }),
      ({ child, ended }) =>
        Effect.zipRight(
          Effect.sync(() => child.kill("SIGTERM")),
          Effect.promise(() => ended)
        )
    ).pipe(Effect.map(({ ended }) => Effect.promise(() => ended)))
    return { folder, ports: [one, two], ended, said }
  })

/** The versions that an event stream names from now on, the remembered one first. It connects again where it is ended. */
const versionsAt = (port: number) =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    const onMessage = ({ data, event }: Message) => {
      if (event === "content:version:promoted") seen.push(JSON.parse(data).versionId)
    }
    const read = Effect.scoped(Effect.flatMap(eventReader.open(port, { onMessage }), ({ closed }) => closed))
    yield* Effect.forkScoped(Effect.forever(insist(read)))
    return seen
  })

/** Edits a table, and waits until both event streams name the version that has the edit; returns its id. */
const edit = (folder: string, versions: ReadonlyArray<ReadonlyArray<string>>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* fs.writeFileString(`${folder}/tables/Objects.csv`, "inventory,title\nA-1,Sextant\n")
    const newest = Effect.gen(function* () {
      const [one, other] = versions.map((seen) => seen.at(-1))
      const file = `${folder}/downloads/versions/${one}/exhibits/Objects.json`
      return one === other && (yield* fs.readFileString(file)).includes("Sextant")
        ? one
        : yield* Effect.fail("older")
    })
    return yield* insist(newest)
  })

const times = (pattern: RegExp, count: number) => (text: string) =>
  (text.match(pattern) ?? []).length >= count

describe.skipIf(isMissing("nats-server"))("scratchpad/venue-nats", () => {
  it.scopedLive("sends an edit in a table to clients of both event streams", () =>
    Effect.gen(function* () {
      const { folder, ports, said } = yield* startVenue()
      yield* said.until(times(/Ready/g, 3))
      const versions = yield* Effect.forEach(ports, versionsAt)
      yield* until(() => versions.every((seen) => seen.length > 0))
      const newest = yield* edit(folder, versions)
      for (const port of ports) {
        const ask = (path: string, request: RequestInit = {}) =>
          Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}${path}`, request)).text())
        const body = '{"type":"content.manifest.read"}'
        expect(yield* ask("/command", { method: "POST", body })).toContain(newest)
        expect(yield* ask("/status")).toMatch(/"title":"NATS".*"value":"nats:/)
      }
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("restarts the server when it is killed, and continues", () =>
    Effect.gen(function* () {
      const { folder, ports, said } = yield* startVenue()
      // A process is ready before it has a connection.
      yield* said.until(times(/Connected to NATS/g, 3))
      const [, processId] = /\[(\d+)\].* Server is ready/.exec(said.text()) ?? []
      process.kill(Number(processId), "SIGKILL")
      yield* said.until(times(/Connected to NATS/g, 6))
      const versions = yield* Effect.forEach(ports, versionsAt)
      yield* until(() => versions.every((seen) => seen.length > 0))
      yield* edit(folder, versions)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("ends with how to get nats-server where it is missing", () =>
    Effect.gen(function* () {
      const { ended, said } = yield* startVenue({ PATH: "/nonexistent" })
      expect(yield* ended).toBe(1)
      expect(yield* said.whole).toContain("apt install nats-server")
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
