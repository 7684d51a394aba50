import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/TestClock"
import * as CommandBusMemory from "../../../src/layers/memory/CommandBusMemory.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { countsOf, since } from "../../support/metrics.ts"

const counts = countsOf("vitrine_commands_total")

it.scoped("commands are counted by type and outcome, for registered types only", () =>
  Effect.gen(function* () {
    const { dispatch, register } = yield* CommandBus
    yield* register({
      type: "double",
      fields: Schema.Struct({ n: Schema.Int }),
      run: ({ n }) => Effect.succeed(2 * n)
    })
    yield* register({ type: "fail", fields: Schema.Struct({}), run: () => Effect.fail("no") })
    yield* register({ type: "hang", fields: Schema.Struct({}), run: () => Effect.never })
    yield* register({ type: "die", fields: Schema.Struct({}), run: () => Effect.die("bug") })
    const commands = [
      { type: "double", n: 1 },
      { type: "double", n: 2 },
      { type: "double", n: "three" },
      { type: "fail" },
      { type: "die" },
      ...Array.from({ length: 50 }, (_, n) => ({ type: `made up ${n}` }))
    ]
    const before = yield* counts
    yield* Effect.forEach(commands, (command) => Effect.ignore(dispatch(command)))
    const hanging = yield* Effect.fork(Effect.flip(dispatch({ type: "hang" }, { timeout: "1 minute" })))
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(hanging)
    expect(since(yield* counts, before)).toEqual({
      "outcome=unavailable,type=hang": 1,
      "outcome=ok,type=double": 2,
      "outcome=invalid,type=double": 1,
      "outcome=failed,type=fail": 1,
      "outcome=failed,type=die": 1,
      "outcome=unknown": 50
    })
  }).pipe(Effect.provide(CommandBusMemory.layer))
)

it.scoped("commands have the tags that their caller sets for metrics", () =>
  Effect.gen(function* () {
    const { dispatch, register } = yield* CommandBus
    yield* register({ type: "wave", fields: Schema.Struct({}), run: () => Effect.void })
    const before = yield* counts
    yield* Effect.tagMetrics(dispatch({ type: "wave" }), "hall", "2")
    expect(since(yield* counts, before)).toEqual({ "hall=2,outcome=ok,type=wave": 1 })
  }).pipe(Effect.provide(CommandBusMemory.layer))
)
