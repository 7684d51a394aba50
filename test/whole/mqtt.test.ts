/**
 * The example of a plugin of one's own, with Debian's MQTT broker.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { connect } from "mqtt"
import { repository } from "../support/documents.ts"
import { freePort } from "../support/freePort.ts"
import { isMissing, pathOf } from "../support/programs.ts"
import { makeProject } from "../support/project.ts"
import * as Received from "../support/Received.ts"
import { eventually } from "../support/waiting.ts"

const example = `${repository}/scratchpad/mqtt`

/** A broker that keeps nothing on disk, until it is killed or the scope ends. */
const startBroker = (port: number) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = `${yield* fs.makeTempDirectoryScoped()}/mosquitto.conf`
    yield* fs.writeFileString(file, `listener ${port} 127.0.0.1\nallow_anonymous true\nuser root\n`)
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(pathOf("mosquitto"), ["-c", file], { stdio: ["ignore", "ignore", "pipe"] })),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const log = Received.from(child.stderr)
    yield* log.until((text) => text.includes(" running"))
    return {
      kill: Effect.promise(async () => {
        child.kill("SIGKILL")
        await once(child, "close")
      })
    }
  })

/** What a client that comes now is given of the topic. */
const retained = (url: string) =>
  Effect.acquireUseRelease(
    Effect.promise(async () => {
      const client = connect(url)
      const messages: Array<string> = []
      client.on("message", (_topic, message) => messages.push(message.toString()))
      await client.subscribeAsync("exhibit/version")
      return { client, messages }
    }),
    ({ messages }) =>
      Effect.map(eventually(Effect.sync(() => messages.length > 0)), () => JSON.parse(messages[0] ?? "")),
    ({ client }) => Effect.promise(() => client.endAsync(true))
  )

describe.skipIf(isMissing("mosquitto"))("scratchpad/mqtt (skipped without mosquitto)", () => {
  it.scopedLive("publishes the active version, even if the broker starts later or restarts", () =>
    Effect.gen(function* () {
      const { folder, run, serveTables, write } = yield* makeProject
      const port = yield* freePort
      const url = `mqtt://127.0.0.1:${port}`
      const env = { MQTT_URL: url, DOWNLOADS: `${folder}/downloads`, TABLES_URL: yield* serveTables() }
      const place = ["--config", `${example}/vitrine.config.ts`, "--run-dir", `${folder}/run`]
      const controller = yield* run(["start", ...place], env)
      const first = yield* controller.logged(/New version (\S+):/)
      yield* controller.logged(/(Ready)/)
      const status = yield* Effect.flatMap(run(["status", ...place]), ({ ended }) => ended)
      expect(status.stdout).toContain(`Broker  ${url} is away`)

      const broker = yield* startBroker(port)
      expect(yield* retained(url)).toEqual({
        versionId: first,
        versionPath: `versions/${first}`,
        generatedAt: expect.any(String)
      })
      yield* broker.kill
      yield* write("tables/Objects.csv", "inventory,title\nA-1,Sextant\n")
      const second = yield* controller.logged(new RegExp(`New version (?!${first})(\\S+):`))
      yield* startBroker(port)
      expect(yield* retained(url)).toMatchObject({ versionId: second })

      yield* controller.signal("SIGTERM")
      expect(yield* controller.ended).toMatchObject({ status: 0 })
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it("is a short file", () => {
    const lines = readFileSync(`${example}/mqttPublisher.ts`, "utf8").trimEnd().split("\n")
    expect(lines.length).toBeLessThanOrEqual(40)
  })
})
