/**
 * The services of a plain controller: its event bus, its commands, its state and its status.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { unexpected } from "../../internal/Options.ts"
import { type Command, CommandBus, CommandFailed, type DispatchError } from "../../services/CommandBus.ts"
import { ControllerState, type PluginRegistration } from "../../services/ControllerState.ts"
import { EventBus } from "../../services/EventBus.ts"
import type { GlobalState, StatusSnapshot } from "../../services/StatusSnapshot.ts"
import { withDispatchTimeout } from "../memory/CommandBusMemory.ts"
import * as EventBusMemory from "../memory/EventBusMemory.ts"
import type { PlainContext, PlainEventHandler, PlainSettled } from "./plainController.ts"

/** The services from a plain controller. */
export type PlainServices = EventBus | CommandBus | ControllerState

/** All of them, until the scope ends. */
export const makeServices = (
  context: PlainContext
): Effect.Effect<Context.Context<PlainServices>, never, Scope.Scope> =>
  Effect.map(makeEventBus(context), (eventBus) =>
    Context.make(EventBus, eventBus).pipe(
      Context.add(CommandBus, makeCommandBus(context)),
      Context.add(ControllerState, makeControllerState(context))
    )
  )

/**
 * The event bus. All subscriptions share one handler on the plain bus until the scope ends; task mode has no handler. Events have the order of the
 * calls of the bus: if an earlier handler emits an event itself, the bus delivers that event first.
 */
export const makeEventBus = ({ eventBus, mode }: Pick<PlainContext, "eventBus" | "mode">) =>
  Effect.gen(function* () {
    const { publish, ...events } = yield* EventBusMemory.make
    const run = Runtime.runSync(yield* Effect.runtime())
    const warnOfNames = yield* Effect.once(
      Effect.logWarning("Events whose name is no string are not forwarded. Some are on the event bus.")
    )
    // The emitter must not get its failure, and need not wait for it.
    const handler: PlainEventHandler = (name: unknown, payload) => {
      if (typeof name === "string") {
        run(publish(name, payload))
      } else {
        run(warnOfNames)
      }
    }
    if (mode === "persistent") {
      yield* Effect.acquireRelease(
        Effect.sync(() => eventBus.onAny(handler)),
        () => Effect.sync(() => eventBus.offAny(handler))
      )
    }
    return EventBus.of({
      ...events,
      publish: (name, payload) => Effect.sync(() => void eventBus.emit(name, payload))
    })
  })

/**
 * The command bus. The controller owns its commands: it lists, decodes and executes them. A command continues after its timeout.
 */
export const makeCommandBus = (context: Pick<PlainContext, "dispatchCommand">) =>
  CommandBus.of({
    register: ({ type }) =>
      Effect.dieMessage(`The command "${type}" must be registered with the plain controller itself.`),
    types: Effect.succeed([]),
    dispatch: (command, options = {}) => {
      const { type } = command
      const settled = Effect.async<unknown, DispatchError>((resume) => {
        const fail = (cause: unknown) => resume(Effect.fail(new CommandFailed({ type, cause })))
        settle(context, command, (value) => resume(Effect.succeed(value)), fail)
      })
      return withDispatchTimeout(settled, type, options)
    }
  })

/** The controller returned something else than a result: the outcome of the command is unknown. */
export class NoResult extends Schema.TaggedError<NoResult>()("vitrine/NoResult", { issue: Schema.String }) {
  override get message() {
    return `"dispatchCommand" must return a ResultAsync of neverthrow, such as okAsync(value): ${this.issue}`
  }
}

/** The outcome of a command: a result, an error, an exception or something else. */
const settle = (
  context: Pick<PlainContext, "dispatchCommand">,
  command: Command,
  onOk: (value: unknown) => void,
  onErr: (error: unknown) => void
) => {
  const attempt = (act: () => void) => {
    try {
      act()
    } catch (thrown) {
      onErr(thrown)
    }
  }
  attempt(() =>
    asPromise(context.dispatchCommand(command)).then(
      (result) => attempt(() => asResult(result).match(onOk, onErr)),
      onErr
    )
  )
}

/** Returns a valid value, and throws for others. */
const require =
  <A>(what: string, is: Predicate.Refinement<unknown, A>) =>
  (value: unknown): A => {
    if (is(value)) return value
    throw new NoResult({ issue: unexpected(what, value) })
  }

const asPromise = require("a promise", Predicate.isPromiseLike)

/** Rejects strings: they have their own `match`, which would never call back. */
const asResult = require("a Result in the promise", (value): value is PlainSettled =>
  Predicate.hasProperty(value, "match") && Predicate.isFunction(value.match))

/**
 * The state and the status come from the controller. It has one slice for each plugin that it sets up, under its own name for the plugin, and accepts
 * no reports: its status does not contain Vitrine's sections. Live fields are the whole slice, as the HTTP transport gives them.
 */
export const makeControllerState = (
  context: Pick<PlainContext, "getGlobalState" | "getStatusSnapshot" | "mode" | "updateState">
) => {
  // Both are sent as JSON, which turns a `Date` into text.
  const getState = () => context.getGlobalState() as GlobalState
  const getStatus = () => context.getStatusSnapshot() as StatusSnapshot
  return ControllerState.of({
    mode: context.mode,
    state: Effect.sync(getState),
    status: Effect.sync(getStatus),
    read: Effect.dieMessage("A plain controller makes no view."),
    updateSlice: (_, f) => Effect.sync(() => void context.updateState(f)),
    register: <S>({ live = Effect.succeed({}), slice }: PluginRegistration<S>) => {
      let current = slice
      const set = (next: unknown) =>
        Effect.flatMap(
          Effect.sync(() => context.updateState((slice) => replace(slice, next))),
          (updating) => (Predicate.isPromiseLike(updating) ? warnWhereRejected(updating) : Effect.void)
        )
      const update = (f: (slice: S | undefined) => S) =>
        Effect.suspend(() => {
          current = f(current)
          return set(current)
        })
      const follow = Stream.repeatEffectWithSchedule(
        Effect.option(live),
        Schedule.spaced(momentaryEvery)
      ).pipe(
        Stream.filterMap(identity),
        Stream.changesWith((one, other) => JSON.stringify(one) === JSON.stringify(other)),
        // Skips the first: the slice has it already.
        Stream.drop(1),
        Stream.runForEach(set)
      )
      return Effect.zipRight(
        slice === undefined ? Effect.void : set(slice),
        Effect.as(Effect.forkScoped(follow), { update })
      )
    }
  })
}

/** The interval for values that always change: a plain controller does not read them itself. */
const momentaryEvery = "10 seconds"

/** Handles the promise, because an unhandled rejection would end the process. The controller may settle it late. */
const warnWhereRejected = (updating: PromiseLike<unknown>) =>
  Effect.promise(() => updating).pipe(
    Effect.catchAllCause((cause) => Effect.logWarning("The state could not be updated", cause)),
    Effect.forkDaemon
  )

/** Works for a controller that passes a draft, and for a controller that uses the returned value. */
const replace = (slice: unknown, next: unknown): unknown => {
  if (!Predicate.isRecord(slice) || !Predicate.isRecord(next) || Object.isFrozen(slice)) {
    return next
  }
  for (const key of Object.keys(slice)) {
    if (!(key in next)) delete slice[key]
  }
  return Object.assign(slice, next)
}
