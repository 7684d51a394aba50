import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import * as ScreenPicturesMemory from "../../../src/layers/memory/ScreenPicturesMemory.ts"
import type { ScreenPicturesService } from "../../../src/services/ScreenPictures.ts"

const jpeg = Uint8Array.of(0xff, 0xd8, 0xff)
const picture = Either.right(jpeg)

const scenario = (name: string, test: (pictures: ScreenPicturesService) => Effect.Effect<void, unknown>) =>
  it.scoped(name, () => Effect.flatMap(ScreenPicturesMemory.make, test))

/** Asks for a picture in the background, and gives its number to the watcher. */
const asked = ({ ask, wanted }: ScreenPicturesService, screen = "left") =>
  Effect.gen(function* () {
    const asking = yield* Effect.fork(Effect.either(ask(screen)))
    yield* Effect.yieldNow()
    const want = yield* Effect.flatten(wanted(screen))
    return { asking, want }
  })

/** Whether somebody who asks waits, and is not refused. */
const canAsk = ({ ask }: ScreenPicturesService, screen: string) =>
  Effect.gen(function* () {
    const asking = yield* Effect.fork(ask(screen))
    yield* Effect.yieldNow()
    const ended = yield* Fiber.poll(asking)
    yield* Fiber.interrupt(asking)
    return Option.isNone(ended)
  })

const reasonOf = <A, E extends { readonly reason: string }>(outcome: Either.Either<A, E>) =>
  Either.match(outcome, { onLeft: ({ reason }) => reason, onRight: () => "a picture" })

describe("pictures of screens", () => {
  scenario("wake up the watcher that waits, and give its picture to who asked, with its time", (pictures) =>
    Effect.gen(function* () {
      yield* pictures.open([])
      const waiting = yield* Effect.fork(pictures.wanted("left"))
      yield* TestClock.adjust("10 seconds")
      const asking = yield* Effect.fork(pictures.ask("left"))
      const want = yield* Effect.flatten(Fiber.join(waiting))
      expect(want.number).toMatch(/^[0-9a-f]{32}$/)
      yield* pictures.answer(want, picture)
      expect(yield* Fiber.join(asking)).toMatchObject({ takenAt: "1970-01-01T00:00:10.000Z", jpeg })
      expect(Option.map(yield* pictures.last("left"), ({ jpeg }) => jpeg)).toEqual(Option.some(jpeg))
    })
  )

  scenario("let a watcher wait 50 seconds", (pictures) =>
    Effect.gen(function* () {
      yield* pictures.open([])
      const waiting = yield* Effect.fork(pictures.wanted("left"))
      yield* TestClock.adjust("49 seconds")
      expect(waiting.unsafePoll()).toBeNull()
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(waiting)).toEqual(Option.none())
    })
  )

  scenario("end the waiting of watchers when they are turned off, and refuse to ask", (pictures) =>
    Effect.gen(function* () {
      const close = yield* pictures.open([])
      const waiting = yield* Effect.fork(pictures.wanted("left"))
      yield* Effect.yieldNow()
      yield* close
      expect(yield* Fiber.join(waiting)).toEqual(Option.none())
      expect(reasonOf(yield* Effect.either(pictures.ask("left")))).toBe("off")
    })
  )

  scenario("go to everybody who asks, also if the first caller leaves", (pictures) =>
    Effect.gen(function* () {
      yield* pictures.open([])
      const { asking: first, want } = yield* asked(pictures)
      const { asking: second, want: same } = yield* asked(pictures)
      expect(same).toBe(want)
      yield* Fiber.interrupt(first)
      yield* pictures.answer(want, picture)
      expect(reasonOf(yield* Fiber.join(second))).toBe("a picture")
    })
  )

  scenario("are taken every five seconds at most, a refusal included", (pictures) =>
    Effect.gen(function* () {
      yield* pictures.open([])
      const { asking, want } = yield* asked(pictures)
      yield* pictures.answer(want, Either.left("the tab has crashed"))
      expect(yield* Effect.flip(Effect.flatten(Fiber.join(asking)))).toMatchObject({
        message: "There is no picture of screen left: the tab has crashed"
      })
      yield* TestClock.adjust("4900 millis")
      expect(reasonOf(yield* Effect.either(pictures.ask("left")))).toBe("refused")
      yield* TestClock.adjust("100 millis")
      const { want: next } = yield* asked(pictures)
      expect(next.number).not.toBe(want.number)
    })
  )

  scenario("take one answer for a number, of its screen, within 90 seconds", (pictures) =>
    Effect.gen(function* () {
      yield* pictures.open([])
      const { asking, want } = yield* asked(pictures)
      const isTaken = (number: string, screen = "left") =>
        Effect.isSuccess(pictures.answer({ number, screen }, picture))
      expect(yield* isTaken("0".repeat(32))).toBe(false)
      expect(yield* isTaken(want.number, "right")).toBe(false)
      expect(yield* isTaken(want.number)).toBe(true)
      expect(yield* isTaken(want.number)).toBe(false)
      yield* Fiber.join(asking)
      yield* TestClock.adjust("5 seconds")
      const late = yield* asked(pictures)
      yield* TestClock.adjust("45 seconds")
      yield* pictures.wantedNow(["left"])
      yield* TestClock.adjust("45 seconds")
      expect(reasonOf(yield* Fiber.join(late.asking))).toBe("late")
      expect(yield* isTaken(late.want.number)).toBe(false)
    })
  )

  scenario(
    "need a watcher that has asked in the last minute, and wait half a minute for it after the start",
    (pictures) =>
      Effect.gen(function* () {
        yield* pictures.open([])
        expect(yield* canAsk(pictures, "left")).toBe(true)
        const early = yield* Effect.fork(Effect.either(pictures.ask("left")))
        yield* TestClock.adjust("30 seconds")
        expect(reasonOf(yield* Effect.either(pictures.ask("left")))).toBe("unseen")
        yield* TestClock.adjust("1 minute")
        expect(reasonOf(yield* Fiber.join(early))).toBe("unseen")
        yield* pictures.wantedNow(["left", "hall/left"])
        expect(yield* pictures.watched).toEqual(["left", "hall/left"])
        expect(yield* canAsk(pictures, "left")).toBe(true)
        yield* TestClock.adjust("1 minute")
        expect(yield* pictures.watched).toEqual([])
        expect(reasonOf(yield* Effect.either(pictures.ask("hall/left")))).toBe("unseen")
      })
  )

  scenario("are never taken of a screen whose pictures are forbidden", (pictures) =>
    Effect.gen(function* () {
      yield* pictures.open(["left"])
      expect(reasonOf(yield* Effect.either(pictures.ask("Left")))).toBe("forbidden")
      yield* pictures.wantedNow(["left", "right"])
      expect(reasonOf(yield* Effect.either(pictures.ask("left")))).toBe("forbidden")
      expect(yield* canAsk(pictures, "right")).toBe(true)
    })
  )

  scenario("are kept for an hour, 64 at most", (pictures) =>
    Effect.gen(function* () {
      yield* pictures.open([])
      const isKept = (number: number) => Effect.map(pictures.last(`s${number}`), Option.isSome)
      for (let number = 0; number < 65; number += 1) {
        const { want } = yield* asked(pictures, `s${number}`)
        yield* pictures.answer(want, picture)
      }
      expect([yield* isKept(0), yield* isKept(1), yield* isKept(64)]).toEqual([false, true, true])
      yield* TestClock.adjust("59 minutes")
      expect(yield* isKept(64)).toBe(true)
      yield* TestClock.adjust("1 minute")
      expect(yield* isKept(64)).toBe(false)
    })
  )
})
