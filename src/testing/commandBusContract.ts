/**
 * The contract of every `CommandBus`.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { serializeError } from "../internal/SerializedError.ts"
import { define } from "../layers/memory/definedCommands.ts"
import {
  CommandBus,
  CommandFailed,
  CommandUnavailable,
  type DispatchOptions,
  InvalidCommandFields,
  UnknownCommand
} from "../services/CommandBus.ts"
import { type Case, runCase } from "./runCase.ts"

/** Removes the log of handlers that die. */
const quiet = Logger.remove(Logger.defaultLogger)

class Greeting extends Context.Tag("test/Greeting")<Greeting, string>() {}

/** Registers a command that greets, with a field of each kind of mistake. */
const registerGreet = Effect.flatMap(CommandBus, ({ register }) =>
  register({
    type: "greet",
    fields: Schema.Struct({
      name: Schema.NonEmptyString,
      times: Schema.NumberFromString,
      words: Schema.optional(Schema.Array(Schema.String))
    }),
    run: ({ name, times }) => Effect.map(Greeting, (greeting) => `${greeting} ${name}! `.repeat(times))
  })
)

/** Registers a command without fields. */
const register = (type: string, run: () => Effect.Effect<unknown, unknown>) =>
  Effect.flatMap(CommandBus, (commands) => commands.register({ type, fields: Schema.Struct({}), run }))

const dispatch = (type: string, fields: Record<string, unknown> = {}) =>
  Effect.flatMap(CommandBus, (commands) => commands.dispatch({ ...fields, type }))

/**
 * The abilities of a command bus.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandBusTraits {
  /** Whether a handler is interrupted together with the caller of the command. Default true. */
  readonly interrupts?: boolean | undefined

  /** A timeout within which the bus delivers a command to its handler, even on a busy machine. Default 200 ms. */
  readonly timeout?: Duration.DurationInput | undefined

  /** Two buses of one engine: a command of either can be dispatched on both. Left out: each bus is on its own. */
  readonly pair?:
    | Effect.Effect<readonly [typeof CommandBus.Service, typeof CommandBus.Service], unknown, Scope.Scope>
    | undefined

  /**
   * A pair whose first bus can be lost: `lose` makes it vanish without closing anything, like `kill -9` of its
   * process. The scopes of its registrations are still closed later. Left out: it is not tested.
   */
  readonly losable?:
    | Effect.Effect<
        {
          readonly lost: typeof CommandBus.Service
          readonly other: typeof CommandBus.Service
          readonly lose: Effect.Effect<void, unknown>
        },
        unknown,
        Scope.Scope
      >
    | undefined

  /** The time within which the bus ends the registrations of a lost process. Default 10 seconds. */
  readonly lease?: Duration.DurationInput | undefined
}

/**
 * The layer gives a bus without commands each time it is built. The tests run in real time.
 *
 * @since 0.1.0
 * @category testing
 */
export const commandBusContract = (
  name: string,
  layer: Layer.Layer<CommandBus, unknown>,
  { interrupts = true, lease = "10 seconds", losable, pair, timeout = "200 millis" }: CommandBusTraits = {}
) => {
  const run = (test: Case<typeof CommandBus.Service, CommandBus>) =>
    runCase(CommandBus, test).pipe(Effect.provide(layer), Effect.provide(quiet))
  const scenario = (title: string, test: Case<typeof CommandBus.Service, CommandBus>) =>
    it.live(title, () => run(test))

  describe(`${name} as a CommandBus`, () => {
    scenario(
      "decodes the fields, provides the services of the handler, and returns its result",
      function* () {
        yield* Effect.provideService(registerGreet, Greeting, "Hello")
        expect(yield* dispatch("greet", { name: "Ada", times: "2" })).toBe("Hello Ada! Hello Ada! ")
      }
    )

    scenario("passes fields and results as JSON does", function* (commands) {
      yield* commands.register({
        type: "echo",
        fields: Schema.Struct({ value: Schema.Unknown }),
        run: ({ value }) => Effect.succeed({ value, at: new Date(0), nothing: undefined })
      })
      const value = ["größe \u2028\n", 1.5, null, true, { "": [], __proto: { a: {} } }]
      const result = yield* dispatch("echo", { value })
      expect(asJson(result)).toEqual({ value, at: "1970-01-01T00:00:00.000Z" })
      yield* register("nothing", () => Effect.void)
      expect((yield* dispatch("nothing")) ?? null).toBe(null)
    })

    scenario("runs several commands at a time, so that a handler can dispatch another", function* (commands) {
      yield* expectSeveral(commands)
    })

    scenario("ignores fields that the command does not know", function* () {
      const seen: Array<unknown> = []
      const commands = yield* CommandBus
      yield* commands.register({
        type: "note",
        fields: Schema.Struct({ text: Schema.String }),
        run: (fields) => Effect.sync(() => seen.push(fields))
      })
      yield* dispatch("note", { text: "x", colour: "red" })
      expect(seen).toEqual([{ text: "x" }])
    })

    scenario("names all wrong fields at once, and does not run the command", function* () {
      yield* Effect.provideService(registerGreet, Greeting, "Hello")
      const error = yield* Effect.flip(dispatch("greet", { name: "", words: ["a", 1] }))
      expect(error).toBeInstanceOf(InvalidCommandFields)
      expect(error.message).toContain('"greet"')
      for (const field of ["name", "times", "words"]) {
        expect(error.message).toContain(field)
      }
    })

    scenario("lists the known commands if it does not know a command", function* () {
      const none = yield* Effect.flip(dispatch("nothing"))
      expect(none).toEqual(new UnknownCommand({ type: "nothing", known: [] }))
      expect(none.message).toContain("No command is registered")
      yield* register("b", () => Effect.void)
      yield* register("a", () => Effect.void)
      const error = yield* Effect.flip(dispatch("toString"))
      expect(error).toEqual(new UnknownCommand({ type: "toString", known: ["a", "b"] }))
      expect(error.message).toContain('"toString"')
      expect(error.message).toContain("a, b")
    })

    const boom = new Error("the disk is full")
    const failures: Readonly<Record<string, () => Effect.Effect<unknown, unknown>>> = {
      fails: () => Effect.fail(boom),
      dies: () => Effect.die(boom),
      throws: () => {
        throw boom
      }
    }
    for (const [how, handler] of Object.entries(failures)) {
      scenario(`turns a handler that ${how} into a typed error`, function* () {
        yield* register("work", handler)
        const error = yield* Effect.flip(dispatch("work"))
        expect(error).toBeInstanceOf(CommandFailed)
        expect(error).toHaveProperty("type", "work")
        expect(error.cause).toBeInstanceOf(Error)
        expect(error.cause).toHaveProperty("message", boom.message)
        expect(error.message).toBe('The command "work" failed: the disk is full')
      })
    }

    scenario("reports the error of a handler, and the chain of its causes", function* () {
      const cause = new InvalidCommandFields({ type: "inner", issues: "n: is required" })
      for (const failure of [chainOf(cause), chainOf("a text"), "a text", undefined]) {
        const scope = yield* Scope.make()
        yield* Scope.extend(
          register("work", () => Effect.fail(failure)),
          scope
        )
        const error = yield* Effect.flip(dispatch("work"))
        expect(error).toBeInstanceOf(CommandFailed)
        expect(error.message).toBe(new CommandFailed({ type: "work", cause: failure }).message)
        expect(serializeError(error.cause)).toEqual(serializeError(failure))
        yield* Scope.close(scope, Exit.void)
      }
    })

    scenario("gives callers the failure that a command defines", function* (commands) {
      yield* expectFailures(commands, commands)
    })

    scenario("turns a handler that is interrupted from within into a typed error", function* () {
      yield* register("work", () =>
        Effect.gen(function* () {
          const fiber = yield* Effect.fork(Effect.never)
          yield* Fiber.interrupt(fiber)
          return yield* Fiber.join(fiber)
        })
      )
      expect(yield* Effect.flip(dispatch("work"))).toBeInstanceOf(CommandFailed)
    })

    scenario("waits no longer for a result than the timeout", function* (commands) {
      const started = yield* Deferred.make<void>()
      const interrupted = yield* Deferred.make<void>()
      yield* register("endless", () =>
        Deferred.succeed(started, undefined).pipe(
          Effect.zipRight(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
        )
      )
      const error = yield* Effect.flip(commands.dispatch({ type: "endless" }, { timeout }))
      yield* Deferred.await(started)
      expect(error).toEqual(new CommandUnavailable({ type: "endless", reason: "timeout", mayHaveRun: true }))
      expect(error.message).toContain('"endless"')
      if (interrupts) {
        yield* Deferred.await(interrupted)
      }
    })

    scenario(
      "waits no longer than the timeout for a handler that cannot be interrupted",
      function* (commands) {
        const end = yield* Deferred.make<void>()
        yield* register("stubborn", () => Effect.uninterruptible(Deferred.await(end)))
        const error = yield* Effect.flip(commands.dispatch({ type: "stubborn" }, { timeout }))
        expect(error).toMatchObject({ _tag: "vitrine/CommandUnavailable", reason: "timeout" })
        yield* Deferred.succeed(end, undefined)
      }
    )

    scenario("returns a result or an error from before the timeout", function* (commands) {
      yield* register("work", () => Effect.succeed(1))
      yield* register("fail", () => Effect.fail("no"))
      const options: DispatchOptions = { timeout: "1 minute" }
      expect(yield* commands.dispatch({ type: "work" }, options)).toBe(1)
      expect(yield* Effect.flip(commands.dispatch({ type: "fail" }, options))).toBeInstanceOf(CommandFailed)
      expect(yield* Effect.flip(commands.dispatch({ type: "none" }, options))).toBeInstanceOf(UnknownCommand)
    })

    if (interrupts) {
      scenario("interrupts a handler with its caller", function* () {
        const started = yield* Deferred.make<void>()
        const interrupted = yield* Deferred.make<void>()
        yield* register("work", () =>
          Deferred.succeed(started, undefined).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
          )
        )
        const fiber = yield* Effect.fork(dispatch("work"))
        yield* Deferred.await(started)
        expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
        yield* Deferred.await(interrupted)
      })
    }

    scenario("offers a command until its scope ends", function* (commands) {
      const scope = yield* Scope.make()
      yield* Scope.extend(
        register("a", () => Effect.succeed(1)),
        scope
      )
      yield* register("b", () => Effect.succeed(2))
      expect(yield* commands.types).toEqual(["a", "b"])
      expect(yield* dispatch("a")).toBe(1)
      yield* Scope.close(scope, Exit.void)
      expect(yield* commands.types).toEqual(["b"])
      expect(yield* Effect.flip(dispatch("a"))).toBeInstanceOf(UnknownCommand)
      yield* register("a", () => Effect.succeed(3))
      expect(yield* dispatch("a")).toBe(3)
    })

    scenario("rejects a command that is registered already, and keeps the first", function* () {
      yield* register("a", () => Effect.succeed("first"))
      const error = yield* Effect.flip(Effect.scoped(register("a", () => Effect.succeed("second"))))
      expect(error).toMatchObject({ _tag: "vitrine/CommandAlreadyRegistered", type: "a" })
      expect(error.message).toContain('"a" is already registered')
      expect(yield* dispatch("a")).toBe("first")
    })

    it.effect.prop(
      "lets only one of several concurrent fibers register a command",
      [FastCheck.integer({ min: 10, max: 60 })],
      ([maxOps]) =>
        run(function* () {
          const exits = yield* Effect.all(
            Array.from({ length: 5 }, (_, index) => Effect.exit(register("a", () => Effect.succeed(index)))),
            { concurrency: "unbounded" }
          ).pipe(Effect.withMaxOpsBeforeYield(maxOps))
          expect(exits.filter(Exit.isSuccess)).toHaveLength(1)
          expect(yield* dispatch("a")).toBe(exits.findIndex(Exit.isSuccess))
        }),
      { fastCheck: { numRuns: 30 } }
    )

    if (pair !== undefined) {
      const pairScenario = (title: string, test: Case<Effect.Effect.Success<typeof pair>>) =>
        it.live(title, () => Effect.provide(runCase(pair, test), quiet))

      pairScenario(
        "dispatches a command of another instance, until its scope ends",
        function* ([one, other]) {
          const scope = yield* Scope.make()
          for (const { dispatch } of [one, other]) {
            expect(yield* Effect.flip(dispatch({ type: "double", number: 21 }))).toEqual(
              new UnknownCommand({ type: "double", known: [] })
            )
          }
          yield* Scope.extend(one.register(double), scope)
          expect(yield* other.types).toEqual(["double"])
          expect(yield* other.dispatch({ type: "double", number: 21 })).toBe(42)
          expect(yield* Effect.flip(Effect.scoped(other.register(double)))).toMatchObject({
            _tag: "vitrine/CommandAlreadyRegistered",
            type: "double"
          })
          yield* Scope.close(scope, Exit.void)
          for (const { dispatch } of [one, other]) {
            expect(yield* Effect.flip(dispatch({ type: "double", number: 21 }))).toBeInstanceOf(
              UnknownCommand
            )
          }
          yield* other.register(double)
          expect(yield* one.dispatch({ type: "double", number: 21 })).toBe(42)
        }
      )

      pairScenario("gives callers on another instance the same errors", function* ([one, other]) {
        const failure = chainOf(new InvalidCommandFields({ type: "inner", issues: "n: is required" }))
        yield* one.register(double)
        yield* one.register({ type: "fail", fields: Schema.Struct({}), run: () => Effect.fail(failure) })
        yield* one.register({ type: "endless", fields: Schema.Struct({}), run: () => Effect.never })
        for (const { dispatch } of [one, other]) {
          const invalid = yield* Effect.flip(dispatch({ type: "double", number: "21" }))
          expect(invalid).toBeInstanceOf(InvalidCommandFields)
          expect(invalid.message).toContain("number")
          const failed = yield* Effect.flip(dispatch({ type: "fail" }))
          expect(failed).toBeInstanceOf(CommandFailed)
          expect(serializeError(failed.cause)).toEqual(serializeError(failure))
          expect(yield* Effect.flip(dispatch({ type: "endless" }, { timeout }))).toEqual(
            new CommandUnavailable({ type: "endless", reason: "timeout", mayHaveRun: true })
          )
        }
      })

      pairScenario("gives callers on another instance the failure that a command defines", function* (buses) {
        yield* expectFailures(...buses)
      })

      pairScenario("lets only one of two instances register a command", function* (buses) {
        const exits = yield* Effect.forEach(
          buses,
          (bus, index) =>
            Effect.exit(
              bus.register({ type: "who", fields: Schema.Struct({}), run: () => Effect.succeed(index) })
            ),
          { concurrency: "unbounded" }
        )
        expect(exits.filter(Exit.isSuccess)).toHaveLength(1)
        for (const { dispatch } of buses) {
          expect(yield* dispatch({ type: "who" })).toBe(exits.findIndex(Exit.isSuccess))
        }
      })
    }

    if (losable !== undefined) {
      /** Fails if the effect takes longer than the lease. */
      const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.timeout(effect, lease)
      const limit = { timeout: 3 * Duration.toMillis(lease) + 5000 }
      const lossScenario = (title: string, test: Case<Effect.Effect.Success<typeof losable>>) =>
        it.live(title, () => runCase(losable, test), limit)

      lossScenario(
        "ends a dispatch whose handler is lost, and says that it may have run",
        function* ({ lose, lost, other }) {
          const started = yield* Deferred.make<void>()
          yield* lost.register({
            type: "endless",
            fields: Schema.Struct({}),
            run: () => Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)
          })
          const waiting = yield* Effect.fork(Effect.flip(other.dispatch({ type: "endless" })))
          yield* Deferred.await(started)
          yield* lose
          expect(yield* inTime(Fiber.join(waiting))).toEqual(
            new CommandUnavailable({ type: "endless", reason: "lost", mayHaveRun: true })
          )
        }
      )

      lossScenario(
        "ends the registrations of a lost instance, so that another instance can register",
        function* ({ lose, lost, other }) {
          yield* lost.register(double)
          expect(yield* other.dispatch({ type: "double", number: 21 })).toBe(42)
          yield* lose
          const error = yield* inTime(Effect.flip(other.dispatch({ type: "double", number: 21 })))
          expect(["vitrine/CommandUnavailable", "vitrine/UnknownCommand"]).toContain(error._tag)
          yield* inTime(
            Effect.retry(other.register(double), {
              schedule: Schedule.spaced("20 millis"),
              while: ({ _tag }) => _tag === "vitrine/CommandAlreadyRegistered"
            })
          )
          expect(yield* other.dispatch({ type: "double", number: 21 })).toBe(42)
        }
      )
    }
  })
}

/** Fails with a message if a command waits for the end of the command before. */
export const expectSeveral = (commands: typeof CommandBus.Service) =>
  Effect.gen(function* () {
    yield* Effect.provideService(
      Effect.zipRight(
        register("inner", () => Effect.succeed(1)),
        register("outer", () => commands.dispatch({ type: "inner" }))
      ),
      CommandBus,
      commands
    )
    const result = yield* commands.dispatch({ type: "outer" }).pipe(
      Effect.timeoutFail({
        duration: "4 seconds",
        onTimeout: () =>
          new Error(
            "A handler that dispatches a command waits for its own end. The bus must run several commands at a time."
          )
      })
    )
    expect(result).toBe(1)
  })

class HallFull extends Schema.TaggedError<HallFull>()("vitrine/HallFull", {
  since: Schema.Date,
  hint: Schema.optional(Schema.String)
}) {}

const enter = define({
  type: "enter",
  fields: Schema.Struct({ seats: Schema.Number }),
  success: Schema.Null,
  failure: HallFull
})

/** Registers a command on one bus, and dispatches it on the other. */
const expectFailures = (one: typeof CommandBus.Service, other: typeof CommandBus.Service) =>
  Effect.gen(function* () {
    const full = new HallFull({ since: new Date(0) })
    const run = ({ seats }: { readonly seats: number }) =>
      seats === 0 ? Effect.die(full) : Effect.fail(seats > 0 ? full : "no such seat")
    yield* Effect.provideService(enter.register(run), CommandBus, one)
    const errorOf = (seats: number) =>
      Effect.flip(Effect.provideService(enter.dispatch({ seats }), CommandBus, other))
    const failure = yield* errorOf(1)
    expect(failure).toBeInstanceOf(HallFull)
    expect(failure).toEqual(full)
    // A defect, and an error that the schema does not describe, stay as they are.
    for (const seats of [0, -1]) expect(yield* errorOf(seats)).toBeInstanceOf(CommandFailed)
    const plain = yield* Effect.flip(other.dispatch({ type: "enter", seats: 1 }))
    expect(plain).toMatchObject({ failure: { _tag: "vitrine/HallFull", since: "1970-01-01T00:00:00.000Z" } })
  })

/** A command that needs a field. */
const double = {
  type: "double",
  fields: Schema.Struct({ number: Schema.Number }),
  run: ({ number }: { readonly number: number }) => Effect.succeed(2 * number)
}

/** An error whose cause has this cause. */
const chainOf = (cause: unknown) => new Error("outer", { cause: new TypeError("middle", { cause }) })

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
