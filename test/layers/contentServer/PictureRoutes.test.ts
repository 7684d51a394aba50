import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { contentServer } from "../../../src/layers/contentServer/ContentServer.ts"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import * as ScreenPicturesMemory from "../../../src/layers/memory/ScreenPicturesMemory.ts"
import type { ContentServer } from "../../../src/services/ContentServer.ts"
import { ScreenPictures } from "../../../src/services/ScreenPictures.ts"
import type { Case } from "../../../src/testing/runCase.ts"
import * as server from "../../support/contentServer.ts"
import { eventually } from "../../support/waiting.ts"

const token = "watchers-of-the-hall"
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0])

/** The forbidden screen is "entrance". */
const environment = Layer.mergeAll(
  server.environment,
  ControllerStateMemory.layer("persistent", {
    node: { id: "hall" },
    screens: [
      { id: "left", picture: true },
      { id: "entrance", picture: false }
    ]
  }),
  ScreenPicturesMemory.layer
)

const running = (pictures: { readonly pictures?: { readonly token: string } }) =>
  Layer.unwrapScoped(
    Effect.map(server.makeFolder, (downloadPath) => server.layer({ downloadPath, ...pictures }))
  )

const served = (
  title: string,
  test: Case<void, ContentServer | Scope.Scope>,
  options: Parameters<typeof running>[0] = { pictures: { token } }
) =>
  it.scoped(title, () =>
    Effect.gen(() => test()).pipe(Effect.provide(Layer.provideMerge(running(options), environment)))
  )

const authorized = { Authorization: `Bearer ${token}` }

const wanted = (screen = "left") => server.get(`/vitrine/pictures/wanted?screen=${screen}`, authorized)

const send = (body: Uint8Array | string, headers: Readonly<Record<string, string>>, screen = "left") =>
  server.request({
    method: "PUT",
    target: `/vitrine/pictures/${screen}`,
    headers: {
      ...authorized,
      "Content-Type": typeof body === "string" ? "text/plain" : "image/jpeg",
      ...headers
    },
    body
  })

/** A waiting watcher that the server knows. */
const waiting = Effect.gen(function* () {
  const { watched } = yield* ScreenPictures
  const watcher = yield* Effect.fork(wanted())
  yield* eventually(Effect.map(watched, (screens) => screens.includes("left")))
  return watcher
})

const asked = Effect.flatMap(ScreenPictures, ({ ask }) => Effect.fork(Effect.either(ask("left"))))

describe("pictures of screens over HTTP", () => {
  served("wake up each watcher of the screen, and take the first answer", function* () {
    const watchers = [yield* waiting, yield* waiting]
    const asking = yield* asked
    const [first, second] = yield* Effect.forEach(watchers, Fiber.join)
    expect(first).toMatchObject({ status: 200 })
    const number = first?.headers["vitrine-picture"] ?? ""
    expect(number).toMatch(/^[0-9a-f]{32}$/)
    expect(second?.headers["vitrine-picture"]).toBe(number)
    expect(yield* send(jpeg, { "Vitrine-Picture": number })).toMatchObject({ status: 204 })
    expect(yield* send(jpeg, { "Vitrine-Picture": number })).toMatchObject({ status: 409 })
    const taken = yield* Effect.flatten(Fiber.join(asking))
    expect(Buffer.from(taken.jpeg)).toEqual(jpeg)
  })

  served(
    "refuse a wrong token, a wrong number, and what is no picture, without using up the number",
    function* () {
      const watcher = yield* waiting
      const asking = yield* asked
      const number = (yield* Fiber.join(watcher)).headers["vitrine-picture"] ?? ""
      const statusOf = (request: typeof wanted extends () => infer A ? A : never) =>
        Effect.map(request, ({ status }) => status)
      const of = { "Vitrine-Picture": number }
      expect(yield* statusOf(send(jpeg, { ...of, Authorization: "Bearer another-token-than-it" }))).toBe(401)
      expect(yield* statusOf(server.get("/vitrine/pictures/wanted?screen=left"))).toBe(401)
      expect(yield* statusOf(wanted("a%2Fb"))).toBe(400)
      expect(yield* statusOf(wanted(""))).toBe(400)
      expect(yield* statusOf(send(jpeg, { "Vitrine-Picture": "0".repeat(32) }))).toBe(409)
      expect(yield* statusOf(send(jpeg, of, "right"))).toBe(409)
      expect(yield* statusOf(send(jpeg, of, "hall%2Fleft"))).toBe(400)
      expect(yield* statusOf(send(Buffer.from("GIF89a"), of))).toBe(400)
      expect(yield* statusOf(send(Buffer.alloc(20 * 1024 ** 2, 0xff), of))).toBe(413)
      expect(yield* statusOf(send("the tab has crashed", of))).toBe(204)
      expect(Either.getLeft(yield* Fiber.join(asking))).toMatchObject(
        Option.some({ message: "There is no picture of screen left: the tab has crashed" })
      )
    }
  )

  served("let a watcher wait 50 seconds", function* () {
    const watcher = yield* waiting
    yield* TestClock.adjust("50 seconds")
    expect(yield* Fiber.join(watcher)).toMatchObject({ status: 204 })
  })

  served("are not taken of a screen that the configuration forbids", function* () {
    const { ask } = yield* ScreenPictures
    expect(yield* Effect.flip(ask("entrance"))).toMatchObject({ reason: "forbidden" })
  })

  served(
    "have no routes without the option",
    function* () {
      expect(yield* wanted()).toMatchObject({ status: 404 })
      expect(yield* send(jpeg, {})).toMatchObject({ status: 405 })
      const { ask } = yield* ScreenPictures
      expect(yield* Effect.flip(ask("left"))).toMatchObject({ reason: "off" })
    },
    {}
  )

  it.scoped("let waiting watchers go at once when the server ends", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(running({ pictures: { token } }), scope)
      const watcher = yield* Effect.provide(waiting, services)
      yield* Scope.close(scope, Exit.void)
      expect(yield* Fiber.join(watcher)).toMatchObject({ status: 204 })
    }).pipe(Effect.provide(environment))
  )

  it("need another token than that of reports", () => {
    const [issue] = contentServer({ pictures: { token }, reports: { token } }).issues
    expect(issue).toEqual({
      path: "pictures.token",
      message: 'expected another token than that of "reports"'
    })
    expect(contentServer({ pictures: { token }, reports: { token: `${token}-2` } }).issues).toEqual([])
  })
})
