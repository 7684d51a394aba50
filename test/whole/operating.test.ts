/**
 * What a technician does with a controller that runs.
 */
import { spawn, spawnSync } from "node:child_process"
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { listen } from "../../src/layers/http/Listen.ts"
import { operate } from "../support/operate.ts"
import { makeProject, makeProjectForOthers, transportUrl } from "../support/project.ts"
import { makeFolderReadOnly, mayMount } from "../support/tmpfs.ts"
import { builtBin } from "../support/vitrineProcess.ts"

const project = operate(makeProject)

/** A user that owns nothing. */
const nobody = 65534

describe.concurrent("a controller that runs", () => {
  it.scopedLive("verifies the content with and without a controller, and repairs it with a fetch", () =>
    Effect.gen(function* () {
      const { folder, read, run, serveTables, vitrine, write } = yield* project
      yield* write("vitrine.config.ts", (yield* read("vitrine.config.ts")).replace("1 second", "1 hour"))
      const TABLES = yield* serveTables()
      const controller = yield* run(["start"], { TABLES })
      const versionId = yield* controller.logged(/New version (\S+):/)
      yield* controller.logged(/(Ready)/)
      const whole = /^Version \S+Z: \d+ files?, [^\n]*, all as they were written\.\n$/
      expect(yield* vitrine("verify")).toMatchObject({ status: 0, stdout: expect.stringMatching(whole) })
      expect(yield* vitrine("verify", "20990101T000000Z")).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('There is no version "20990101T000000Z" on disk')
      })

      const { sources } = JSON.parse(yield* read(`downloads/versions/${versionId}/files.json`))
      const [{ files, sourceId }] = sources
      const [file = ""] = Object.keys(files)
      const damage = Effect.gen(function* () {
        const { versionPath } = JSON.parse(yield* read("downloads/manifest.json"))
        const path = `downloads/${versionPath}/${sourceId}/${file}`
        yield* write(path, (yield* read(path)).replace(/[a-z]/, "?"))
        return path
      })
      yield* damage
      const found = yield* vitrine("verify", versionId)
      expect(found.status).toBe(1)
      expect(found.stdout).toContain(`${sourceId}/${file} has other content than when it was written\n`)
      expect(found.stdout).toMatch(
        /, 1 problem\. If it is the active version, "vitrine fetch" replaces it\.\n$/
      )
      expect(JSON.parse((yield* vitrine("fetch")).stdout)).toMatchObject({ changed: true })
      expect(yield* vitrine("verify")).toMatchObject({ status: 0, stdout: expect.stringMatching(whole) })
      expect((yield* vitrine("stop")).status).toBe(0)

      const path = yield* damage
      const alone = yield* run(["verify"], { TABLES })
      expect(yield* alone.ended).toMatchObject({
        status: 1,
        stdout: expect.stringMatching(
          / problem\. Start the controller and verify again: .* "vitrine fetch" replaces it then\.\n$/
        )
      })
      yield* Effect.sync(() => rmSync(`${folder}/${path}`))
      const fetched = yield* run(["fetch"], { TABLES })
      expect(JSON.parse((yield* fetched.ended).stdout)).toMatchObject({ changed: true })
      const again = yield* run(["verify"], { TABLES })
      expect(yield* again.ended).toMatchObject({ status: 0, stdout: expect.stringMatching(whole) })
    })
  )

  it.scopedLive("does not warn again of a loss that somebody has accepted, also after it was killed", () =>
    Effect.gen(function* () {
      const { folder, run, vitrine, write } = yield* project
      const remove = (name: string) => Effect.sync(() => rmSync(join(folder, name)))
      const config = `import { content, defineConfig, folderSource } from "vitrine"
export default defineConfig({
  plugins: [content({ fetchEvery: "1 hour", sources: [folderSource({ id: "museum", directory: "tables" })] })]
})
`
      yield* write("vitrine.config.ts", config)
      yield* write("tables/rooms.json", '[{ "id": "hall" }]')
      const start = Effect.gen(function* () {
        const controller = yield* run(["start"])
        yield* controller.logged(/(Ready)/)
        return controller
      })
      const status = Effect.map(vitrine("status"), ({ stdout }) => stdout)
      const fetched = Effect.zipRight(vitrine("fetch"), status)
      const controller = yield* start
      yield* fetched
      yield* remove("tables/rooms.json")
      const warned = yield* fetched
      expect(warned).toMatch(/^WARNING\n/)
      const [, command = ""] = /\n {4}vitrine (accept .*)\n/.exec(warned) ?? []
      expect(command).toBe("accept gone:document museum/rooms")
      expect(yield* vitrine("accept", "gone:document", "museum")).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("There are: gone:document museum/rooms.")
      })
      expect((yield* vitrine(...command.split(" "))).stdout).toMatch(/^Accepted: .*rooms: it is gone/)
      expect(yield* status).toMatch(/^OK\n/)
      expect(yield* controller.logged(/(Accepted by .*@.*: rooms: it is gone)/)).toBeDefined()
      yield* controller.signal("SIGKILL")
      yield* start
      expect(yield* fetched).toMatch(/^OK\n/)
      yield* write("tables/rooms.json", '[{ "id": "hall" }]')
      yield* fetched
      yield* remove("tables/rooms.json")
      expect(yield* fetched).toContain("vitrine accept gone:document museum/rooms\n")
    })
  )

  it.scopedLive(
    "goes back to the previous version and stays there, even after a restart, until it is resumed",
    () =>
      Effect.gen(function* () {
        const { run, serveTables, vitrine, write } = yield* project
        const TABLES = yield* serveTables()
        const controller = yield* run(["start"], { TABLES })
        const first = yield* controller.logged(/New version (\S+):/)
        yield* controller.logged(/(Ready)/)
        const edit = (title: string) => write("tables/Objects.csv", `inventory,title\nA-1,${title}\n`)
        yield* edit("Sextant")
        const second = yield* controller.logged(new RegExp(`New version (?!${first})(\\S+):`))
        const url = yield* controller.logged(transportUrl)

        const body = JSON.stringify({ type: "content.rollback" })
        const refused = yield* Effect.promise(() => fetch(`${url}/command`, { method: "POST", body }))
        expect(refused.status).toBe(403)
        expect(yield* vitrine("rollback", "20990101T000000Z")).toMatchObject({
          status: 1,
          stderr: expect.stringContaining(
            `there is no version "20990101T000000Z". On disk: ${first}, ${second}.`
          )
        })
        expect(yield* vitrine("rollback")).toMatchObject({
          status: 0,
          stdout: `Version ${first} is active now, and stays until "vitrine resume". Version ${second} waits.\n`
        })
        expect((yield* vitrine("status")).stdout).toMatch(
          new RegExp(`! Held +since .* by \\S+: version ${first} stays; version ${second} waits\n`)
        )
        yield* edit("Telescope")
        const third = yield* controller.logged(/New version (\S+) waits, because/)
        yield* write("downloads/acks/left.json", JSON.stringify({ versionId: second }))
        yield* write("downloads/acks/right.json", JSON.stringify({ versionId: second, renewMs: 1 }))
        const { stdout: versions } = yield* vitrine("versions")
        expect(versions).toMatch(
          new RegExp(
            [
              `^${third}  waits`,
              "  made \\d.*: museum \\(1 record, 1 file, \\d+ bytes\\)",
              '  Objects: "Telescope" title "Sextant" → "Telescope"',
              `${second}`,
              "  made .*",
              '  Objects: "Sextant" title "Astrolabe" → "Sextant", "Barometer" removed',
              "  shown by left",
              `${first}  active, held`,
              "  made .*: museum \\(2 records, .*",
              "  in use",
              `Held since .* by \\S+\\. "vitrine resume" makes version ${third} the active one\\.\n$`
            ].join("\n")
          )
        )
        expect((yield* vitrine("stop")).status).toBe(0)

        const again = yield* run(["start"], { TABLES })
        yield* again.logged(new RegExp(`Active version ${first}, held (since) `))
      })
  )

  it.scopedLive("runs in the background with a log file, even after the previous controller was killed", () =>
    Effect.gen(function* () {
      const { read, run, serveTables, vitrine, write } = yield* project
      const tables = yield* serveTables()
      yield* write("museum.env", `TABLES=${tables}\n`)
      const killed = yield* run(["start", "--env-file", "museum.env"])
      yield* killed.logged(/(Ready)/)
      yield* killed.signal("SIGKILL")
      yield* killed.ended

      const started = yield* vitrine("start", "--detach", "--env-file", "museum.env")
      const pid = Number(/\(process (\d+)\)/.exec(started.stdout)?.[1])
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.try(() => process.kill(pid, "SIGKILL"))))
      expect(started).toMatchObject({ status: 0, stderr: "" })
      // The terminal that it was started from is closed.
      process.kill(pid, "SIGHUP")
      expect((yield* vitrine("fetch")).status).toBe(0)
      expect(yield* vitrine("start", "--detach")).toMatchObject({
        status: 1,
        stdout: "",
        stderr: expect.stringContaining(`A controller is already running here (process ${pid};`)
      })

      const ends = yield* Effect.all([vitrine("stop"), vitrine("stop")], { concurrency: 2 })
      expect(ends.map(({ stdout }) => stdout)).toContain(`The controller has ended (process ${pid}).\n`)
      expect(yield* read(".vitrine/errors.log")).toBe("")
      expect(yield* read(".vitrine/controller.log")).toMatch(
        /^\d{4}-\S+Z {2}info {3}Starting with (?:(?!Starting)[\s\S])* Ready\n(?:(?!Starting)[\s\S])* Stopping\n$/
      )
    })
  )

  it.scopedLive("does not start where its environment file would be served, in the background either", () =>
    Effect.gen(function* () {
      const { read, vitrine, write } = yield* project
      yield* write(
        "vitrine.config.ts",
        (yield* read("vitrine.config.ts"))
          .replace("import {", "import { contentServer,")
          .replace("plugins: [", 'plugins: [contentServer({ port: 0, site: "tables" }),')
      )
      yield* write("tables/index.html", "<title>Hall</title>")
      yield* write("tables/museum.env", "TABLES=http://127.0.0.1:1\n")
      for (const args of [[], ["--detach"]]) {
        const started = yield* vitrine("start", "--env-file", "tables/museum.env", ...args)
        yield* vitrine("stop")
        expect(started).toMatchObject({ status: 1, stderr: expect.stringContaining("tables/museum.env") })
      }
    })
  )

  it.scopedLive("reports that its first fetch failed, with an exit status for that", () =>
    Effect.gen(function* () {
      const { read, run, serveTables, vitrine, write } = yield* project
      const refusing = createServer((_, response) => response.writeHead(401).end())
      const { port } = yield* listen(refusing, { host: "127.0.0.1", port: 0 })
      yield* write("museum.env", `TABLES=http://127.0.0.1:${port}`)
      const started = yield* vitrine("start", "--detach", "--env-file", "museum.env")
      const pid = Number(/\(process (\d+)\)/.exec(started.stdout)?.[1])
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.try(() => process.kill(pid, "SIGKILL"))))
      expect(started).toMatchObject({
        status: 0,
        stderr: expect.stringMatching(
          /^The first fetch failed; the controller goes on\. Source "museum": .*does not accept the API key/
        )
      })
      expect(yield* vitrine("status", "--check")).toMatchObject({
        status: 1,
        stdout: expect.stringContaining("Last fetch")
      })
      yield* vitrine("stop")
      expect(yield* read(".vitrine/errors.log")).toBe("")

      const fine = yield* run(["start"], { TABLES: yield* serveTables() })
      yield* fine.logged(/New version (\S+):/)
      expect((yield* vitrine("status", "--check")).status).toBe(0)
    })
  )

  it.scopedLive.skipIf(!mayMount)("shows the content on a read-only disk", () =>
    Effect.gen(function* () {
      const { folder, run, serveTables } = yield* project
      const TABLES = yield* serveTables()
      const before = yield* run(["start"], { TABLES })
      const versionId = yield* before.logged(/New version (\S+):/)
      yield* before.signal("SIGTERM")
      yield* before.ended

      yield* makeFolderReadOnly(folder)
      const controller = yield* run(["start"], { TABLES })
      expect(yield* controller.logged(/Active version (\S+)/)).toBe(versionId)
      yield* controller.logged(/(Fetch failed, content stays as it is\. .*read-only)/)
      yield* controller.logged(/(warn .*controller's socket cannot be used .* goes on without it)/)
      const url = yield* controller.logged(transportUrl)
      const response = yield* Effect.promise(() =>
        fetch(`${url}/command`, {
          method: "POST",
          body: JSON.stringify({ type: "content.manifest.read" })
        }).then((response) => response.json())
      )
      expect(response).toMatchObject({ result: { status: "ok", manifest: { versionId } } })
      yield* controller.signal("SIGTERM")
      expect((yield* controller.ended).status).toBe(0)
    })
  )

  it.scopedLive("reports why it did not start in the background", () =>
    Effect.gen(function* () {
      const { folder, list, read, vitrine, write } = yield* project
      yield* write("vitrine.config.ts", "export default {")
      expect(yield* vitrine("start", "--detach")).toMatchObject({
        status: 1,
        stdout: "",
        stderr: expect.stringMatching(
          /^The controller was not started\. \S*vitrine\.config\.ts: it could not be loaded\. /
        )
      })
      yield* Effect.sync(() => symlinkSync("gone/controller.log", `${folder}/any.log`))
      const gone = ["--log-file", "any.log"]
      expect((yield* vitrine("start", ...gone)).stderr).toMatch(
        /^The log cannot be written to any\.log: it is not there\. /
      )
      expect((yield* vitrine("start", "--detach", ...gone)).stderr).toMatch(
        /^The controller was not started\. The log cannot be written to \S*any\.log: /
      )
      expect(yield* list(".vitrine")).toEqual(["controller.log", "translated"])
      expect(yield* read(".vitrine/controller.log")).toMatch(
        /^\S+Z {2}error {2}The controller has not started: \S+vitrine\.config\.ts: it could not be loaded\. /
      )
      const { stderr } = yield* vitrine("start", "--log-format", "json")
      expect(JSON.parse(stderr)).toMatchObject({
        logLevel: "FATAL",
        message: expect.stringMatching(/vitrine\.config\.ts: it could not be loaded\. /)
      })
    })
  )

  it.each(["--version", "--help", "status --help"])(
    "fails where its output cannot be written, for example to a full disk: vitrine %s",
    (args) => {
      const command = `'${process.execPath}' '${builtBin}' ${args} >/dev/full`
      expect(spawnSync("sh", ["-c", command], { encoding: "utf8" })).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/^The output cannot be written\. ENOSPC: .*\n$/)
      })
    }
  )

  it.scopedLive("continues where its log cannot be written", () =>
    Effect.gen(function* () {
      const { folder, list, serveTables, vitrine } = yield* project
      const TABLES = yield* serveTables()
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn("sh", ["-c", `exec '${process.execPath}' '${builtBin}' start 2>/dev/full`], {
            cwd: folder,
            env: { ...process.env, TABLES },
            stdio: "ignore"
          })
        ),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      const hasFetched = Effect.orElseSucceed(
        Effect.map(list("downloads"), (names) => names.includes("manifest.json")),
        () => false
      )
      yield* Effect.repeat(hasFetched, { until: (has) => has, schedule: Schedule.spaced("50 millis") })
      const isReady = Effect.map(vitrine("status"), ({ stdout }) => /Active version {2}\d/.test(stdout))
      yield* Effect.repeat(isReady, { until: (ready) => ready })
      expect((yield* vitrine("stop")).stdout).toContain("The controller has ended")
    })
  )

  it.scopedLive("is named with what to type when it does not answer, and runs on", () =>
    Effect.gen(function* () {
      const { read, run, serveTables, vitrine } = yield* project
      const controller = yield* run(["start"], { TABLES: yield* serveTables() })
      yield* controller.logged(/(Ready)/)
      const pid = (yield* read(".vitrine/controller.pid")).trim()
      yield* controller.signal("SIGSTOP")
      expect(yield* vitrine("stop")).toEqual({
        status: 1,
        stdout: "",
        stderr: `The controller (process ${pid}) was not stopped: it has not answered for 5 seconds. To end its process, type: kill -9 ${pid} (if it runs in a container, stop the container).\n`
      })
      yield* controller.signal("SIGCONT")
      expect(yield* vitrine("stop")).toMatchObject({ status: 0 })
      expect(yield* controller.ended).toMatchObject({ status: 0 })
    })
  )

  it.scopedLive.skipIf(process.getuid?.() !== 0)(
    "runs for a user who may not write beside the configuration (skipped unless root)",
    () =>
      Effect.gen(function* () {
        const { folder, list, run, serveTables, write } = yield* operate(makeProjectForOthers)
        const downloads = mkdtempSync(join(tmpdir(), "vitrine-downloads-"))
        const runDir = mkdtempSync(join(tmpdir(), "vitrine-run-"))
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            rmSync(downloads, { recursive: true })
            rmSync(runDir, { recursive: true })
          })
        )
        chmodSync(folder, 0o755)
        chownSync(downloads, nobody, nobody)
        chownSync(runDir, nobody, nobody)
        yield* write(
          "vitrine.config.mjs",
          `import { content, defineConfig, tableSource } from "vitrine"
export default defineConfig({
  plugins: [
    content({
      downloadPath: ${JSON.stringify(downloads)},
      sources: [
        tableSource({ id: "museum", baseId: "b", apiKey: "k", endpointUrl: "${yield* serveTables()}", tables: ["Objects"] })
      ]
    })
  ]
})
`
        )
        const asService = (...args: ReadonlyArray<string>) =>
          run([...args, "--config", "vitrine.config.mjs"], {}, { uid: nobody })
        const refused = yield* Effect.flatMap(asService("start"), ({ ended }) => ended)
        expect(refused).toMatchObject({
          status: 1,
          stderr: expect.stringMatching(
            /EACCES: .*mkdir '.*\.vitrine'\. Name a folder .* with --run-dir\.\n$/
          )
        })
        const refusedAgain = yield* Effect.flatMap(asService("start", "--detach"), ({ ended }) => ended)
        expect(refusedAgain.stderr).toContain("with --run-dir.")

        const controller = yield* asService("start", "--run-dir", runDir)
        yield* controller.logged(/(New version)/)
        for (const command of ["status", "fetch", "stop"]) {
          const { status } = yield* Effect.flatMap(
            asService(command, "--run-dir", runDir),
            ({ ended }) => ended
          )
          expect([command, status]).toEqual([command, 0])
        }
        expect(yield* controller.ended).toMatchObject({ status: 0 })
        expect(readdirSync(runDir)).toEqual([])
        expect(yield* list(".")).not.toContain(".vitrine")
      })
  )

  it.scopedLive("can be watched on a terminal, even before it has started", () =>
    Effect.gen(function* () {
      const { run, serveTables } = yield* project
      const watch = yield* run(["status", "--watch"], {}, { onTerminal: true })
      yield* watch.shown(/(No controller is running here)/)
      const controller = yield* run(["start"], { TABLES: yield* serveTables() })
      const versionId = yield* controller.logged(/New version (\S+):/)
      yield* watch.shown(new RegExp(`Active version {2}(${versionId})`))
    })
  )
})
