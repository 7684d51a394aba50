/**
 * What commands say where something else than a controller of this version listens at the socket.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { beforeAll, describe, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { failureText } from "../../../src/layers/cli/terminal/log.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import { says } from "../../support/says.ts"
import { listenIn, type Respond } from "../../support/strangeController.ts"

const platform = Layer.merge(NodeContext.layer, HttpClientNode.layer)

const commands = [
  "status",
  "fleet",
  "stop",
  "fetch",
  "check",
  "verify",
  "versions",
  "diff",
  "rollback",
  "hold",
  "release",
  "resume"
]

/** What each command prints at its end, of which the first word is the command. */
const said = (respond: Respond) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    yield* fs.writeFileString(`${folder}/vitrine.config.mjs`, "")
    yield* listenIn(folder, respond)
    return yield* Effect.forEach(
      commands,
      (command) =>
        says(command, "--config", `${folder}/vitrine.config.mjs`).pipe(
          Effect.sandbox,
          Effect.either,
          Effect.map((ended) => ({
            command,
            text: Either.match(ended, {
              onLeft: (cause) => failureText(cause, false),
              onRight: (lines) => lines.join("\n")
            })
          }))
        ),
      { concurrency: "unbounded" }
    )
  }).pipe(Effect.scoped, Effect.provide(platform))

const known: Respond = (path) => [
  200,
  path === "/process" ? { pid: process.pid } : { result: { what: "is this?" } }
]

beforeAll(() => {
  // The log.
  vi.spyOn(console, "error").mockReturnValue()
})

describe("a command", () => {
  it.live("reports in one line that it does not understand the response", () =>
    Effect.map(said(known), (all) => {
      for (const { command, text } of all) {
        expect([command, text]).toEqual([
          command,
          expect.stringMatching(/^The .*another version of Vitrine\?$/)
        ])
      }
    })
  )

  it.live("marks an error message of the other program, and cuts a long one", () =>
    Effect.gen(function* () {
      const message = `no\n✓ All is well.\u001b[2J\u202e${"x".repeat(100_000)}`
      const errors: ReadonlyArray<readonly [status: number, error: unknown]> = [
        [500, message],
        [500, { name: message, message, cause: { name: "", message } }],
        [400, { message }]
      ]
      for (const [status, error] of errors) {
        for (const asked of ["/process", "/status", "/stop", "/events", "/command"]) {
          const all = yield* said((path) => (path === asked ? [status, { error }] : known(path)))
          for (const { command, text } of all) {
            const where = [command, asked]
            expect([...where, text.length < 10_000]).toEqual([...where, true])
            expect([...where, text]).toEqual([...where, expect.not.stringMatching(/^✓|\u001b|\u202e/m)])
          }
        }
      }
    })
  )
})
