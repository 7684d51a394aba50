import * as FileSystem from "@effect/platform/FileSystem"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as IpcServer from "../../../src/layers/control/IpcServer.ts"
import * as Content from "../../../src/layers/fetching/Content.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import { fetch, follow, services } from "../../support/content.ts"
import { player, serverSlice } from "../../support/fleet.ts"
import { withLog } from "../../support/logged.ts"
import { pluginsOf } from "../../support/plugins.ts"
import { says } from "../../support/says.ts"

const platform = services("persistent", { node: { id: "hall" }, screens: [{ id: "left" }] })

const controller = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  yield* fs.writeFileString(`${folder}/vitrine.config.mjs`, "")
  yield* Content.fromSources({}, [])
  yield* IpcServer.make({ folder, stop: Effect.void })
  return (...args: ReadonlyArray<string>) =>
    says("screen", "--config", `${folder}/vitrine.config.mjs`, ...args)
})

it.scopedLive("vitrine screen prints that a screen is asked, and when it has taken that", () =>
  Effect.gen(function* () {
    const say = yield* controller
    yield* fetch
    const { until } = yield* follow
    const { dispatch } = yield* CommandBus
    const saying = yield* Effect.fork(say("reload", "left"))
    yield* until("content:screen:asked")
    const [{ versionId = "" } = {}] = (yield* (yield* ControllerState).read).view.contents
    yield* dispatch({ type: "content.ack", consumerId: "left", versionId, runId: "run-1" })
    expect(yield* Fiber.join(saying)).toEqual([
      "Screen left is asked to reload.",
      "Screen left has received it."
    ])
  }).pipe(withLog([]), Effect.provide(platform))
)

it.scopedLive(
  "vitrine screen fails if the controller has missed events, and the answer may be among them",
  () =>
    Effect.gen(function* () {
      const say = yield* controller
      const { until } = yield* follow
      const { publish } = yield* EventBus
      const saying = yield* Effect.fork(Effect.flip(say("reload", "left")))
      yield* until("content:screen:asked")
      const flood = Effect.replicateEffect(publish("content:flood", 1), 5000, { discard: true })
      yield* Effect.sync(() => Effect.runSync(flood))
      expect(String(yield* Fiber.join(saying))).toContain("Whether screen left has received it is not known")
    }).pipe(withLog([]), Effect.provide(platform))
)

it.scopedLive("vitrine screen waits for a screen of a player too, and names the screens that there are", () =>
  Effect.gen(function* () {
    const say = yield* controller
    const { until } = yield* follow
    const { publish } = yield* EventBus
    const { updateSlice } = pluginsOf(yield* ControllerState)
    yield* updateSlice("content-server", () => serverSlice({ players: [player({ node: { id: "hall-3" } })] }))
    const saying = yield* Effect.fork(say("identify", "hall-3/left"))
    yield* until("content:screen:asked")
    yield* publish("content:screen:taken", { screen: "hall-3/left", actions: ["identify"] })
    expect(yield* Fiber.join(saying)).toEqual([
      "Screen hall-3/left is asked to identify.",
      "Its player gets the request with its next report, within ten seconds.",
      "Screen hall-3/left has received it."
    ])
    expect(String(yield* Effect.flip(say("reload", "right")))).toContain(
      'There is no screen "right". Known screens: left, hall-3/left.'
    )
  }).pipe(withLog([]), Effect.provide(platform))
)
