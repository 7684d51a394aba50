/**
 * Commands and events with types: both sides have the decoded value, and the bus carries its encoded form.
 */
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as CommandBusMemory from "../../../src/layers/memory/CommandBusMemory.ts"
import * as CommandBus from "../../../src/layers/memory/definedCommands.ts"
import * as EventBus from "../../../src/layers/memory/definedEvents.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"

/** Both fields are text on the bus. */
const Opening = Schema.Struct({ at: Schema.Date, seats: Schema.NumberFromString })
const open = CommandBus.define({ type: "hall.open", fields: Opening, success: Schema.Date })
const opened = EventBus.define("hall:opened", Opening)

const openings = FastCheck.record({
  at: FastCheck.date({ noInvalidDate: true }),
  seats: FastCheck.integer()
})
const encoded = ({ at, seats }: typeof Opening.Type) => ({ at: at.toISOString(), seats: `${seats}` })

describe("a defined command", () => {
  it.scoped.prop("brings fields to its handler, and the result back", [openings], ([opening]) =>
    Effect.gen(function* () {
      const bus = yield* CommandBus.CommandBus
      yield* open.register((fields) => {
        expect(fields).toEqual(opening)
        return Effect.succeed(fields.at)
      })
      expect(yield* open.dispatch(opening)).toEqual(opening.at)
      // The form for clients without types.
      expect(yield* bus.dispatch({ type: "hall.open", ...encoded(opening) })).toBe(opening.at.toISOString())
    }).pipe(Effect.provide(CommandBusMemory.layer))
  )

  it.scoped("fails as the bus does, for wrong fields and wrong results", () =>
    Effect.gen(function* () {
      const bus = yield* CommandBus.CommandBus
      expect(yield* Effect.flip(open.dispatch({ at: new Date(0), seats: 1 }))).toMatchObject({
        _tag: "vitrine/UnknownCommand"
      })
      const half = CommandBus.define({
        type: "hall.open",
        fields: Schema.Struct({ seats: Schema.Int }),
        success: Schema.Null
      })
      expect(yield* Effect.flip(half.dispatch({ seats: 0.5 }))).toMatchObject({
        _tag: "vitrine/InvalidCommandFields",
        issues: expect.stringContaining("seats")
      })
      yield* bus.register({
        type: "hall.open",
        fields: Schema.Struct({}),
        run: () => Effect.succeed("never")
      })
      expect(yield* Effect.flip(half.dispatch({ seats: 1 }))).toMatchObject({ _tag: "vitrine/CommandFailed" })
    }).pipe(Effect.provide(CommandBusMemory.layer))
  )

  it("has types", () => {
    type Fields = { readonly at: Date; readonly seats: number }
    expectTypeOf(open.dispatch).parameter(0).toEqualTypeOf<Fields>()
    expectTypeOf<Effect.Effect.Success<ReturnType<typeof open.dispatch>>>().toEqualTypeOf<Date>()
    expectTypeOf<
      Effect.Effect.Error<ReturnType<typeof open.dispatch>>
    >().toEqualTypeOf<CommandBus.DispatchError>()
    // @ts-expect-error: the result is a date
    open.register(({ seats }) => Effect.succeed(seats))
    // @ts-expect-error: no seats
    open.dispatch({ at: new Date(0) })
    // @ts-expect-error: the fields of a command are an object
    CommandBus.define({ type: "hall.close", fields: Schema.String, success: Schema.Null })
  })
})

describe("a defined event", () => {
  it.scoped.prop("brings payloads to its subscribers", [FastCheck.array(openings)], ([all]) =>
    Effect.gen(function* () {
      const bus = yield* EventBus.EventBus
      const [untyped, typed] = yield* Effect.all([bus.subscribe, opened.subscribe])
      yield* Effect.forEach(all, (opening) =>
        Effect.zipRight(bus.publish("hall:closed", {}), opened.publish(opening))
      )
      const got = yield* Stream.runCollect(Stream.take(typed, all.length))
      expect(Chunk.toReadonlyArray(got)).toEqual(all)
      const carried = yield* untyped.pipe(
        Stream.take(2 * all.length),
        Stream.filter(({ name }) => name === "hall:opened"),
        Stream.runCollect
      )
      expect(Chunk.toReadonlyArray(carried).map(({ payload }) => payload)).toEqual(all.map(encoded))
    }).pipe(Effect.provide(EventBusMemory.layer))
  )

  it.scoped("leaves out events that others publish with another payload", () =>
    Effect.gen(function* () {
      const bus = yield* EventBus.EventBus
      const feed = yield* opened.subscribe
      yield* bus.publish("hall:opened", { at: "soon", seats: "many" })
      yield* opened.publish({ at: new Date(0), seats: 3 })
      const [first] = yield* Stream.runCollect(Stream.take(feed, 1))
      expect(first).toEqual({ at: new Date(0), seats: 3 })
    }).pipe(Effect.provide(EventBusMemory.layer))
  )

  it.effect("is not published with a wrong payload", () =>
    Effect.gen(function* () {
      const counted = EventBus.define("hall:counted", Schema.Struct({ visitors: Schema.Int }))
      expect(yield* Effect.flip(counted.publish({ visitors: 0.5 }))).toMatchObject({
        _tag: "vitrine/EventBusError",
        message: expect.stringContaining("visitors")
      })
    }).pipe(Effect.provide(EventBusMemory.layer))
  )

  it("has types", () => {
    expectTypeOf(opened.publish).parameter(0).toEqualTypeOf<{ readonly at: Date; readonly seats: number }>()
    // @ts-expect-error: no seats
    opened.publish({ at: new Date(0) })
  })
})
