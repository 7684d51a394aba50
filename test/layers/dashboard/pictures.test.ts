/**
 * Pictures of screens at the dashboard. `test/whole/dashboard.test.ts` has its page.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import type { DashboardConfig } from "../../../src/layers/dashboard/Dashboard.ts"
import { makeOverview } from "../../../src/layers/dashboard/overview.ts"
import * as ScreenPicturesMemory from "../../../src/layers/memory/ScreenPicturesMemory.ts"
import { ScreenPictures } from "../../../src/services/ScreenPictures.ts"
import * as dashboard from "../../support/dashboard.ts"

const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0])

const over =
  (options: DashboardConfig = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.scoped,
      Effect.provide(Layer.provideMerge(dashboard.layer(options), ScreenPicturesMemory.layer))
    )

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  Effect.map(
    dashboard.request({
      method: "POST",
      target: "/picture",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body)
    }),
    (answer) => ({
      ...answer,
      message: answer.status < 400 ? "" : JSON.parse(answer.body).error.message
    })
  )

/** Asks for a picture of the screen "left", whose watcher gives this answer. */
const postWith = (answer: Either.Either<Uint8Array, string>) =>
  Effect.gen(function* () {
    const pictures = yield* ScreenPictures
    const posting = yield* Effect.fork(post({ screen: "left" }))
    const wanted = yield* Effect.flatten(pictures.wanted("left"))
    yield* pictures.answer(wanted, answer)
    return yield* Fiber.join(posting)
  })

const open = (forbidden: ReadonlyArray<string> = []) =>
  Effect.flatMap(ScreenPictures, (pictures) => pictures.open(forbidden))

describe("POST /picture", () => {
  it.effect("takes a picture, and gives it again as the last one for an hour", () =>
    Effect.gen(function* () {
      yield* open()
      expect(yield* post({ screen: "left", last: true })).toMatchObject({
        status: 404,
        message: "There is no picture of this screen from the last hour."
      })
      yield* TestClock.adjust("10 seconds")
      const taken = yield* postWith(Either.right(jpeg))
      expect(taken).toMatchObject({
        status: 200,
        headers: {
          "content-type": "image/jpeg",
          "content-length": "4",
          "vitrine-taken-at": "1970-01-01T00:00:10.000Z",
          "x-content-type-options": "nosniff",
          "cache-control": "no-store",
          "content-security-policy": expect.stringContaining("img-src data: blob:;")
        }
      })
      expect((yield* post({ screen: "left", last: true })).body).toBe(taken.body)
      yield* TestClock.adjust("1 hour")
      expect((yield* post({ screen: "left", last: true })).status).toBe(404)
    }).pipe(over())
  )

  it.effect("says in words why there is none", () =>
    Effect.gen(function* () {
      const refused = (body: unknown) =>
        Effect.map(post(body), ({ message, status }) => [status, message] as const)
      expect(yield* refused({ screen: "left" })).toEqual([
        404,
        expect.stringMatching(/^Pictures of screens are off: set "pictures" of the content server/)
      ])
      yield* open(["camera"])
      expect(yield* refused({ screen: "camera" })).toEqual([
        404,
        'Pictures of screen camera are forbidden: the configuration says "picture: false".'
      ])
      expect(yield* postWith(Either.left("the tab has crashed"))).toMatchObject({
        status: 502,
        message: "There is no picture of screen left: the tab has crashed"
      })
      yield* TestClock.adjust("1 minute")
      expect(yield* refused({ screen: "right" })).toEqual([
        404,
        "Screen right cannot be seen: start its browser with deploy/kiosk/watch.mjs."
      ])
      yield* Effect.flatMap(ScreenPictures, ({ wantedNow }) => wantedNow(["right"]))
      const waiting = yield* Effect.fork(refused({ screen: "right" }))
      yield* Effect.flatMap(ScreenPictures, ({ wanted }) => wanted("right"))
      yield* TestClock.adjust("45 seconds")
      yield* Effect.flatMap(ScreenPictures, ({ wantedNow }) => wantedNow(["right"]))
      yield* TestClock.adjust("45 seconds")
      expect(yield* Fiber.join(waiting)).toEqual([
        504,
        "No picture of screen right has come within 90 seconds."
      ])
      for (const body of [{}, { screen: 1 }, [], { screen: "left", last: "yes" }]) {
        expect((yield* refused(body))[0]).toBe(400)
      }
    }).pipe(over())
  )

  it.effect("gives no picture, old or new, without the token, or to a page of another origin", () =>
    Effect.gen(function* () {
      const token = { Authorization: "Bearer 0123456789abcdef" }
      for (const last of [true, false]) {
        const status = (headers: Readonly<Record<string, string>>) =>
          Effect.map(post({ screen: "left", last }, headers), ({ status }) => status)
        expect(yield* status({})).toBe(401)
        expect(yield* status({ Authorization: "Bearer 0123456789abcdeF" })).toBe(401)
        expect(yield* status({ ...token, Origin: "http://attacker.example" })).toBe(403)
        expect(yield* status({ ...token, "Sec-Fetch-Site": "cross-site" })).toBe(403)
        expect(yield* status({ ...token, "Content-Type": "text/plain" })).toBe(415)
        expect(yield* status({ ...token, Host: "attacker.example" })).toBe(403)
        expect(yield* status(token)).toBe(404)
      }
      expect((yield* dashboard.get("/picture?screen=left", token)).status).toBe(404)
    }).pipe(over({ token: "0123456789abcdef" }))
  )

  it.effect("gives no picture to the network if actions are off", () =>
    Effect.gen(function* () {
      yield* open()
      expect((yield* post({ screen: "left" })).message).toMatch(/^Actions are off/)
    }).pipe(over({ host: "0.0.0.0" }))
  )
})

describe("the page", () => {
  it.effect("gets the times of the last pictures for an hour, and no picture", () =>
    Effect.gen(function* () {
      const { pictures, ...others } = yield* Effect.flatten(makeOverview("open"))
      expect(pictures).toEqual([])
      yield* open()
      yield* postWith(Either.right(jpeg))
      const times = Effect.map(Effect.flatten(makeOverview("open")), ({ pictures }) => pictures)
      expect(yield* Effect.flatten(makeOverview("open"))).toEqual({
        ...others,
        pictures: [{ screen: "left", takenAt: "1970-01-01T00:00:00.000Z" }]
      })
      yield* TestClock.adjust("1 hour")
      expect(yield* times).toEqual([])
    }).pipe(over())
  )
})
