/**
 * Commands of the content, with a controller in this process that has two.
 */
import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { afterEach, beforeEach, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { failureText } from "../../../src/layers/cli/terminal/log.ts"
import * as IpcServer from "../../../src/layers/control/IpcServer.ts"
import * as ControllerServices from "../../../src/layers/controller/ControllerServices.ts"
import { pluginReport } from "../../../src/layers/fetching/pluginReport.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import { withLog } from "../../support/logged.ts"
import { pluginsOf } from "../../support/plugins.ts"
import { says } from "../../support/says.ts"

const platform = Layer.merge(ControllerServices.layer("persistent"), NodeContext.layer)

const timestamp = "2026-11-27T10:00:00.000Z"
const versionId = "20261127T100000Z"
const outcome = { timestamp, changed: false, versionId, records: 0, durationMs: 1 }

let exitCode: typeof process.exitCode
beforeEach(() => {
  exitCode = process.exitCode
})
afterEach(() => {
  process.exitCode = exitCode
})

/** What is run, in a controller with `content`, and `archive`, whose last fetch has failed. */
const controller = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  yield* fs.writeFileString(`${folder}/vitrine.config.mjs`, "")
  const { addReport, updateSlice } = pluginsOf(yield* ControllerState)
  const { register } = yield* CommandBus
  const { publish } = yield* EventBus
  const ran: Array<unknown> = []
  for (const name of ["content", "archive"]) {
    const failure = { timestamp, error: { name: "E", message: "no network" } }
    yield* updateSlice(name, () => ({
      kind: "content",
      versionId,
      sources: {},
      lastFetch: name === "archive" ? failure : outcome
    }))
    yield* addReport(name, pluginReport(name, { failingFor: "15 minutes" }))
    for (const type of ["fetch", "screen"]) {
      yield* register({
        type: `${name}.${type}`,
        fields: Schema.Struct({ screen: Schema.optional(Schema.String) }),
        run: ({ screen }) =>
          Effect.sync(() => ran.push([`${name}.${type}`, screen])).pipe(
            Effect.zipRight(publish(`${name}:screen:taken`, { screen, actions: ["reload"] })),
            Effect.as(outcome)
          )
      })
    }
  }
  yield* IpcServer.make({ folder, stop: Effect.void })
  const say = (command: string, ...args: ReadonlyArray<string>) =>
    says(command, "--config", `${folder}/vitrine.config.mjs`, ...args)
  return { ran, say }
})

it.scopedLive("a command for one of several contents names it, or says that it must", () =>
  Effect.gen(function* () {
    const { ran, say } = yield* controller
    yield* say("fetch", "--content", "archive")
    yield* say("screen", "--content", "archive", "reload", "left")
    expect(ran).toEqual([
      ["archive.fetch", undefined],
      ["archive.screen", "left"]
    ])
    for (const said of [say("fetch"), say("screen", "reload", "left")]) {
      expect(String(yield* Effect.flip(said))).toContain(
        "There are several contents: add --content NAME. The contents are: archive, content."
      )
    }
    expect(ran).toHaveLength(2)
  }).pipe(withLog([]), Effect.provide(platform))
)

it.scopedLive("status --check finds a failed fetch of each content, or of the one that is named", () =>
  Effect.gen(function* () {
    const { say } = yield* controller
    const check = (...args: ReadonlyArray<string>) =>
      Effect.map(say("status", "--check", ...args), () => process.exitCode)
    expect(yield* check()).toBe(3)
    expect(yield* check("--content", "content")).toBe(0)
    expect(yield* check("--content", "archive")).toBe(3)
    expect(String(yield* Effect.flip(check("--content", "archve")))).toContain(
      'There is no content "archve". The contents are: archive, content.'
    )
  }).pipe(withLog([]), Effect.provide(platform))
)

it.scopedLive("a command that runs here names a plugin that answers something else", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    const file = `${folder}/vitrine.config.mjs`
    const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url))
    yield* fs.symlink(modules, `${folder}/node_modules`)
    yield* fs.writeFileString(
      file,
      `import { CommandBus } from "vitrine"
import { Effect, Schema } from "effect"
const run = () => Effect.succeed("done")
const setup = () =>
  Effect.as(
    Effect.flatMap(CommandBus.CommandBus, ({ register }) => register({ type: "content.fetch", fields: Schema.Struct({}), run })),
    Effect.void
  )
export default { plugins: [{ name: "own", issues: [], setup }] }
`
    )
    const error = yield* Effect.flip(says("fetch", "--config", file))
    expect(failureText(Cause.fail(error), false)).toBe(
      'A plugin of this configuration answers "fetch" with something else than expected.'
    )
  }).pipe(Effect.provide(Layer.mergeAll(platform, HttpClientNode.layer)), withLog([]))
)
