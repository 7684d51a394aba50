import { execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { listen } from "../../src/layers/http/Listen.ts"
import { makeProject, transportUrl } from "../support/project.ts"
import * as rawHttp from "../support/rawHttp.ts"
import type { VitrineProcess } from "../support/vitrineProcess.ts"

const effectFolder = fileURLToPath(new URL("../../node_modules/effect", import.meta.url))

/** A transport, and behind it a plugin that is set up once there is a file `go` and does not shut down. */
const slowConfiguration = `import { existsSync } from "node:fs"
import { Effect, Schedule } from "effect"
import { defineConfig, httpTransport } from "vitrine"
const slow = {
  name: "slow",
  issues: [],
  setup: () =>
    Effect.gen(function* () {
      yield* Effect.logInfo("Setting up")
      yield* Effect.repeat(
        Effect.sync(() => existsSync("go")),
        { until: (there) => there, schedule: Schedule.spaced("10 millis") }
      )
      yield* Effect.addFinalizer(() => Effect.never)
      return Effect.void
    })
}
export default defineConfig({ plugins: [httpTransport({ port: 0 }), slow] })
`

/** A plugin whose setup neither ends nor can be interrupted. */
const stubbornConfiguration = `import { Effect } from "effect"
import { defineConfig } from "vitrine"
const stubborn = {
  name: "stubborn",
  issues: [],
  setup: () => Effect.uninterruptible(Effect.zipRight(Effect.logInfo("Setting up"), Effect.never))
}
export default defineConfig({ plugins: [stubborn] })
`

/** A plugin that opens a pipe that nobody ever writes to, as on a disk that does not answer. */
const hangingConfiguration = `import { open } from "node:fs/promises"
import { Effect } from "effect"
import { defineConfig } from "vitrine"
const hanging = {
  name: "hanging",
  issues: [],
  setup: () => Effect.gen(function* () {
    open("pipe")
    yield* Effect.logInfo("Setting up")
    return Effect.void
  })
}
export default defineConfig({ plugins: [hanging] })
`

const connect = (controller: VitrineProcess) =>
  Effect.flatMap(controller.logged(transportUrl), (url) => rawHttp.connect(Number(new URL(url).port)))

const openEvents = Effect.fnUntraced(function* (controller: VitrineProcess) {
  const connection = yield* connect(controller)
  connection.send(rawHttp.format({ target: "/events" }))
  yield* connection.received.until((text) => text.endsWith("\r\n\r\nretry: 2000\n\n"))
  return connection
})

/** Waits for an end without a forced one, which the process says after two seconds of its own. */
const endedInTime = (controller: VitrineProcess) =>
  Effect.tap(Effect.timeout(controller.ended, "1 minute"), ({ stderr, stdout }) => {
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(stderr).not.toMatch(/error:/i)
    expect(stdout).toBe("")
  })

describe.concurrent("vitrine start", () => {
  const scenario: typeof it.scopedLive = it.scopedLive

  const project = Effect.provide(makeProject, NodeContext.layer)
  /** A controller in the middle of a plugin's setup. */
  const startSettingUp = (configuration: string, prepare = (_folder: string) => {}) =>
    Effect.gen(function* () {
      const { folder, run, write } = yield* project
      const fs = yield* FileSystem.FileSystem
      yield* fs.symlink(effectFolder, `${folder}/node_modules/effect`)
      yield* write("vitrine.config.ts", configuration)
      prepare(folder)
      const controller = yield* run(["start"])
      yield* controller.logged(/(Setting up)/)
      return { controller, folder, letGo: write("go", "") }
    }).pipe(Effect.provide(NodeContext.layer))
  const slowProject = startSettingUp(slowConfiguration)

  scenario("starts while clients connect and disconnect, and ends despite a second Ctrl-C", () =>
    Effect.gen(function* () {
      const { controller, letGo } = yield* slowProject
      const half = yield* connect(controller)
      half.send("POST /command HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
      for (const { received, reset } of [yield* openEvents(controller), half]) {
        reset()
        yield* received.whole
      }
      yield* letGo
      yield* controller.logged(/(Ready)/)
      const url = yield* controller.logged(transportUrl)
      const status = yield* Effect.promise(async () => (await fetch(`${url}/status`)).text())
      expect(status).toContain('"0 of 32, 1 at most so far"')
      const stream = yield* openEvents(controller)
      yield* controller.signal("SIGINT")
      yield* controller.logged(/(Stopping)/)
      yield* controller.signal("SIGINT")
      expect([0, "SIGINT"]).toContain((yield* endedInTime(controller)).status)
      yield* stream.received.whole
    })
  )

  for (const [command, signal] of [
    ["start", "SIGINT"],
    ["start", "SIGHUP"],
    ["fetch", "SIGTERM"]
  ] as const) {
    scenario(`with a configuration that never returns ends on ${signal}: vitrine ${command}`, () =>
      Effect.gen(function* () {
        const { run, write } = yield* project
        yield* write("vitrine.config.ts", 'console.error("Looping")\nfor (;;) {}\n')
        const controller = yield* run([command])
        yield* controller.logged(/(Looping)/)
        yield* controller.signal(signal)
        expect((yield* endedInTime(controller)).status).toBe(signal)
      })
    )
  }

  scenario("ends while it starts, with and without open streams", () =>
    Effect.gen(function* () {
      const { controller } = yield* slowProject
      const stream = yield* openEvents(controller)
      yield* controller.signal("SIGTERM")
      expect(yield* endedInTime(controller)).toMatchObject({
        status: 0,
        stderr: expect.not.stringContaining("  warn ")
      })
      yield* stream.received.whole
    })
  )

  scenario("ends in time where a plugin cannot be interrupted while it is set up", () =>
    Effect.gen(function* () {
      const { controller } = yield* startSettingUp(stubbornConfiguration)
      yield* controller.signal("SIGTERM")
      expect(yield* Effect.timeout(controller.ended, "1 minute")).toMatchObject({
        status: 0,
        stderr: expect.stringContaining("The start of the plugins did not shut down in time")
      })
    })
  )

  scenario("ends within two seconds while a file operation hangs, and leaves no socket and process id", () =>
    Effect.gen(function* () {
      const { controller, folder } = yield* startSettingUp(hangingConfiguration, (folder) =>
        execFileSync("mkfifo", [`${folder}/pipe`])
      )
      yield* controller.logged(/(Ready)/)
      yield* controller.signal("SIGTERM")
      expect(yield* Effect.timeout(controller.ended, "1 minute")).toMatchObject({
        status: "SIGKILL",
        stderr: expect.stringMatching(/error: Something did not stop within two seconds\. .*\n$/)
      })
      expect(readdirSync(`${folder}/.vitrine`)).toEqual([])
    })
  )

  scenario("ends on SIGHUP as on SIGTERM", () =>
    Effect.gen(function* () {
      const { controller, folder, letGo } = yield* slowProject
      yield* letGo
      yield* controller.logged(/(Ready)/)
      yield* controller.signal("SIGHUP")
      yield* controller.logged(/(Stopping)/)
      expect(yield* Effect.timeout(controller.ended, "1 minute")).toMatchObject({ status: 0 })
      expect(readdirSync(`${folder}/.vitrine`)).toEqual([])
    })
  )

  scenario("ends while it fetches from a server that stopped in the middle of its response", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const stalled = createServer((_request, response) => {
        response.write('{"records":[')
        Deferred.unsafeDone(asked, Effect.void)
      })
      const { port } = yield* listen(stalled, { host: "127.0.0.1", port: 0 })
      const { read, run } = yield* project
      const controller = yield* run(["start"], { TABLES: `http://127.0.0.1:${port}` })
      yield* Deferred.await(asked)
      yield* openEvents(controller)
      yield* controller.signal("SIGTERM")
      expect(yield* endedInTime(controller)).toMatchObject({
        status: 0,
        stderr: expect.not.stringContaining("  warn ")
      })
      expect(yield* Effect.flip(read("downloads/manifest.json"))).toMatchObject({ reason: "NotFound" })
    })
  )
})
