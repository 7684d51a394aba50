import * as FileSystem from "@effect/platform/FileSystem"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as IpcServer from "../../../src/layers/control/IpcServer.ts"
import * as Content from "../../../src/layers/fetching/Content.ts"
import * as ScreenPicturesMemory from "../../../src/layers/memory/ScreenPicturesMemory.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import { NoPicture, ScreenPictures } from "../../../src/services/ScreenPictures.ts"
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

const jpeg = Uint8Array.of(0xff, 0xd8, 0xff)

/** A controller with pictures, and the watcher of the screen "left". */
const watched = Effect.gen(function* () {
  const pictures = yield* ScreenPictures
  yield* pictures.open([])
  return {
    say: yield* controller,
    answers: (answer: Either.Either<Uint8Array, string>) =>
      Effect.fork(
        Effect.flatMap(Effect.flatten(pictures.wanted("left")), (wanted) => pictures.answer(wanted, answer))
      )
  }
})

it.scopedLive("vitrine screen picture writes the picture to a file, and replaces an earlier one", () =>
  Effect.gen(function* () {
    const { answers, say } = yield* watched
    const fs = yield* FileSystem.FileSystem
    const file = `${yield* fs.realPath(yield* fs.makeTempDirectoryScoped())}/left.jpg`
    yield* fs.writeFileString(file, "earlier")
    yield* answers(Either.right(jpeg))
    const [first, last] = yield* say("picture", "left", "--out", file)
    expect(first).toBe("A picture of screen left takes a few seconds.")
    expect(last).toMatch(new RegExp(`^${file} shows it as of \\d\\d:\\d\\d:\\d\\d \\(3 bytes\\)\\.$`))
    expect(yield* fs.readFile(file)).toEqual(Buffer.from(jpeg))
  }).pipe(withLog([]), Effect.provide(platform), Effect.provide(ScreenPicturesMemory.layer))
)

it.scopedLive("vitrine screen picture says why there is no picture", () =>
  Effect.gen(function* () {
    const { answers, say } = yield* watched
    yield* answers(Either.left("a dialog is open: Really?"))
    expect(String(yield* Effect.flip(say("picture", "left")))).toContain(
      "There is no picture of screen left: a dialog is open: Really?"
    )
  }).pipe(withLog([]), Effect.provide(platform), Effect.provide(ScreenPicturesMemory.layer))
)

it.scopedLive("vitrine screen picture says how to turn pictures on", () =>
  Effect.gen(function* () {
    const say = yield* controller
    expect(String(yield* Effect.flip(say("picture", "left")))).toContain(
      'set "pictures" of the content server'
    )
  }).pipe(withLog([]), Effect.provide(platform))
)

it.scopedLive(
  "vitrine screen picture tells a screen that cannot be seen from a screen that does not exist",
  () =>
    Effect.gen(function* () {
      const unseen = {
        ...(yield* ScreenPictures),
        ask: (screen: string) => new NoPicture({ screen, reason: "unseen" })
      }
      const say = yield* Effect.provideService(controller, ScreenPictures, unseen)
      expect(String(yield* Effect.flip(say("picture", "left")))).toContain(
        "Screen left cannot be seen: start its browser with deploy/kiosk/watch.mjs."
      )
      expect(String(yield* Effect.flip(say("picture", "lefft")))).toContain(
        'There is no screen "lefft". Known screens: left.'
      )
    }).pipe(withLog([]), Effect.provide(platform))
)
