/**
 * Pictures of the screens of a player: a hub and a player in one process, over a real socket.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { addLoggerHere } from "../../../src/internal/loggers.ts"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import * as SendReports from "../../../src/layers/fleet/SendReports.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as CommandBusMemory from "../../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"
import * as ScreenPicturesMemory from "../../../src/layers/memory/ScreenPicturesMemory.ts"
import { ScreenPictures, type ScreenPicturesService } from "../../../src/services/ScreenPictures.ts"
import * as server from "../../support/contentServer.ts"
import { token } from "../../support/fleet.ts"
import { withLog } from "../../support/logged.ts"

const servicesOf = (id: string) =>
  Layer.mergeAll(
    CommandBusMemory.layer,
    EventBusMemory.layer,
    ScreenPicturesMemory.layer,
    ControllerStateMemory.layer("persistent", { node: { id } })
  )

const jpeg = new Uint8Array(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(900_000, 7)]))

/** Starts a player, hall 1, whose screens are watched as `watch` says, and asks its hub for a picture of the screen "left ✓". */
const askHub = (watch: (pictures: ScreenPicturesService) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const downloadPath = `${yield* server.makeFolder}/downloads`
    yield* server.addVersion(downloadPath, {})
    return yield* Effect.gen(function* () {
      const port = yield* server.port
      const hub = yield* ScreenPictures
      return yield* Effect.gen(function* () {
        yield* watch(yield* ScreenPictures)
        const { start } = yield* SendReports.make({
          to: `http://127.0.0.1:${port}/`,
          token: Redacted.make(token),
          content: "content",
          directory: "/",
          addLogger: addLoggerHere
        })
        yield* start
        return yield* Effect.either(hub.ask("hall 1/left ✓"))
      }).pipe(Effect.provide(Layer.merge(servicesOf("hall 1"), HttpClientNode.layer)))
    }).pipe(Effect.provide(server.layer({ downloadPath, reports: { token } })))
  }).pipe(Effect.provide(Layer.merge(servicesOf("hub"), NodeContext.layer)), withLog([]))

/** A watcher that gives this answer. */
const watcher =
  (answer: Either.Either<Uint8Array, string>, forbidden: ReadonlyArray<string> = []) =>
  (pictures: ScreenPicturesService) =>
    Effect.gen(function* () {
      yield* pictures.open(forbidden)
      yield* pictures.wantedNow(["left ✓"])
      yield* Effect.flatMap(Effect.flatten(pictures.wanted("left ✓")), (wanted) =>
        pictures.answer(wanted, answer)
      ).pipe(Effect.ignore, Effect.forkDaemon)
    })

describe("a hub that is asked for a picture of a screen of a player", () => {
  it.scopedLive("gets the picture from the player", () =>
    Effect.gen(function* () {
      const answer = yield* askHub(watcher(Either.right(jpeg)))
      expect(Either.isRight(answer) && Buffer.compare(answer.right.jpeg, jpeg)).toBe(0)
    })
  )

  it.scopedLive("gets the words of the watcher, once", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(yield* askHub(watcher(Either.left("the tab has crashed"))))).toMatchObject({
        message: "There is no picture of screen hall 1/left ✓: the tab has crashed"
      })
    })
  )

  it.scopedLive("gets words if the player forbids pictures of the screen", () =>
    Effect.gen(function* () {
      const answer = yield* askHub(watcher(Either.right(jpeg), ["left ✓"]))
      expect(yield* Effect.flip(answer)).toMatchObject({
        message: expect.stringMatching(
          /^There is no picture of screen hall 1\/left ✓: Pictures of screen left ✓ are forbidden/
        )
      })
    })
  )
})
