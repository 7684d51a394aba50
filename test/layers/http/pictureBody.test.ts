/**
 * The bodies that a watcher may send, with the token of either route.
 */
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as application from "../../../src/layers/http/Application.ts"
import { listen } from "../../../src/layers/http/Listen.ts"
import * as pictureBody from "../../../src/layers/http/pictureBody.ts"
import * as ScreenPicturesMemory from "../../../src/layers/memory/ScreenPicturesMemory.ts"
import { request } from "../../support/rawHttp.ts"

const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0])

/** A route for pictures, and the number of a picture of hall-1/left that somebody waits for. */
const serve = Effect.gen(function* () {
  const pictures = yield* ScreenPicturesMemory.make
  yield* pictures.open([])
  const server = yield* application.make({
    routes: [HttpLayerRouter.route("PUT", "/vitrine/pictures/:player/:screen", pictureBody.take(pictures))],
    refuse: Option.none,
    headers: () => ({})
  })
  const { port } = yield* listen(server, { host: "127.0.0.1", port: 0 })
  yield* pictures.wantedNow(["hall-1/left"])
  const asking = yield* Effect.forkScoped(pictures.ask("hall-1/left"))
  yield* Effect.yieldNow()
  const [wanted] = yield* pictures.wantedNow(["hall-1/left"])
  const put = (
    body: string | Uint8Array,
    type = "image/jpeg",
    { number = wanted?.number ?? "", path = "hall-1/left" } = {}
  ) =>
    Effect.map(
      request(port, {
        method: "PUT",
        target: `/vitrine/pictures/${path}`,
        headers: { "Content-Type": type, "Vitrine-Picture": number },
        body
      }),
      ({ body, status }) => ({ status, message: body === "" ? "" : JSON.parse(body).error.message })
    )
  return { outcome: Fiber.join(asking), put }
})

describe("the answer of a watcher", () => {
  it.scoped("is a picture of up to 1 MiB", () =>
    Effect.gen(function* () {
      const { outcome, put } = yield* serve
      const bytes = (size: number) => Buffer.concat([jpeg, Buffer.alloc(size - jpeg.length)])
      const tooLarge = { status: 413, message: "The body exceeds 1048576 bytes." }
      expect(yield* put(bytes(1_048_577))).toEqual(tooLarge)
      expect(yield* put(bytes(20 * 1_048_576))).toEqual(tooLarge)
      expect(yield* put(bytes(1_048_576))).toEqual({ status: 204, message: "" })
      expect((yield* outcome).jpeg).toHaveLength(1_048_576)
    })
  )

  it.scoped("is a reason in words of at most 500 printable characters", () =>
    Effect.gen(function* () {
      const { outcome, put } = yield* serve
      const words = `the tab has\n\u001b[31m crashed ${"x".repeat(600)}`
      expect((yield* put(words, "text/plain; charset=utf-8")).status).toBe(204)
      const { detail = "" } = yield* Effect.flip(outcome)
      expect(detail).toMatch(/^the tab has �?\[31m crashed x+…$/)
      expect(detail).toHaveLength(501)
    })
  )

  it.scoped("is nothing else, and another try is welcome", () =>
    Effect.gen(function* () {
      const { put } = yield* serve
      for (const [body, type] of [
        ["<svg/>", "image/svg+xml"],
        ["<svg/>", "image/jpeg"],
        ["", "image/jpeg"],
        [" \n", "text/plain"],
        [jpeg, "image/jpegs"],
        [jpeg, ""]
      ] as const) {
        expect((yield* put(body, type)).message).toMatch(/^The body must be a picture/)
      }
      expect((yield* put(jpeg)).status).toBe(204)
    })
  )

  it.scoped("counts once, with its number, for its screen", () =>
    Effect.gen(function* () {
      const { put } = yield* serve
      expect((yield* put(jpeg, "image/jpeg", { number: "0".repeat(32) })).status).toBe(409)
      expect((yield* put(jpeg, "image/jpeg", { path: "hall-1/right" })).status).toBe(409)
      for (const path of ["hall-1/%", "hall-1%2Fleft/x", "hall-1/"]) {
        expect((yield* put(jpeg, "image/jpeg", { path })).status, path).toBe(400)
      }
      expect((yield* put(jpeg, "image/jpeg", { path: "hall%2d1/left" })).status).toBe(204)
      expect(yield* put(jpeg)).toMatchObject({ status: 409, message: /^This picture is not wanted/ })
    })
  )
})
