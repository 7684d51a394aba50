/**
 * Bodies whose parts arrive at any moment, also between two steps of their reader.
 */
import { Readable } from "node:stream"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Scheduler from "effect/Scheduler"
import * as Body from "../../../src/layers/httpClient/Body.ts"
import { failed } from "../../../src/layers/httpClient/httpFailure.ts"
import { makeInTime } from "../../../src/layers/httpClient/waits.ts"
import { eventLoopTurn } from "../../support/waiting.ts"

/** Parts of a body: how many turns of the event loop each comes after the part before, and its length. */
const parts = FastCheck.array(
  FastCheck.tuple(FastCheck.integer({ min: 0, max: 8 }), FastCheck.integer({ min: 1, max: 3 })),
  { maxLength: 6 }
)

const inTime = makeInTime(60_000)

/** Starts each fiber in its own turn, as the scheduler does under load. */
const late = Scheduler.make((task) => {
  setImmediate(task)
})

const responseOf = (given: ReadonlyArray<readonly [turns: number, length: number]>): Body.Response => {
  const body = Readable.from(
    (async function* () {
      for (const [turns, length] of given) {
        for (let turn = 0; turn < turns; turn++) await new Promise((resume) => setImmediate(resume))
        yield Buffer.alloc(length, "x")
      }
    })(),
    { objectMode: false }
  )
  const web = HttpClientResponse.fromWeb(HttpClientRequest.get("http://museum.example/"), new Response(""))
  return {
    url: new URL("http://museum.example/"),
    status: 200,
    headers: {},
    source: Object.assign(web, { source: { body } }),
    inTime: (begin) => inTime(begin, () => failed("nothing came"))
  }
}

it.effect.prop(
  "a body is read to its end without waiting, whenever its parts come",
  [parts, FastCheck.integer({ min: 1, max: 20 })],
  ([given, atLeast]) =>
    Effect.gen(function* () {
      const length = given.reduce((sum, [, length]) => sum + length, 0)
      const reading = Effect.flatMap(Body.reader(responseOf(given)), (read) =>
        Effect.iterate(
          { bytes: 0, isLast: false },
          {
            while: ({ isLast }) => !isLast,
            body: ({ bytes }) =>
              Effect.map(read(atLeast), (part) => ({ bytes: bytes + part.length, isLast: part.isLast }))
          }
        )
      )
      const fiber = yield* Effect.fork(Effect.withScheduler(reading, late))
      yield* Effect.repeat(eventLoopTurn, {
        until: () => Effect.map(Fiber.poll(fiber), Option.isSome),
        times: 500
      })
      expect(Option.isSome(yield* Fiber.poll(fiber))).toBe(true)
      expect((yield* Fiber.join(fiber)).bytes).toBe(length)
    }),
  { fastCheck: { numRuns: 200 } }
)
