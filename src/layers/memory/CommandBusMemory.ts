/**
 * The command bus of one process.
 *
 * A timeout interrupts the handler, and the dispatch does not wait for the handler's end. Nobody knows how far the
 * handler came, so `mayHaveRun` is always `true`.
 *
 * The end of a registration waits 1.2 seconds for its running handlers and then interrupts them, so that their resources close later.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as MetricLabel from "effect/MetricLabel"
import { type AwaitEnd, makeAwaitEnd, withoutParentSpan } from "../../internal/background.ts"
import {
  type Command,
  CommandAlreadyRegistered,
  CommandBus,
  type CommandHandler,
  CommandUnavailable,
  type DispatchError,
  type DispatchOptions,
  UnknownCommand
} from "../../services/CommandBus.ts"
import { decodeCommandFields, failedBy } from "./definedCommands.ts"

type Run = (command: Command, options: DispatchOptions) => Effect.Effect<unknown, DispatchError>

/**
 * A bus without commands. If a caller is interrupted, so is the handler of its command.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<typeof CommandBus.Service> = Effect.sync(() => {
  const commands = new Map<string, Run>()

  const types = Effect.sync(() => [...commands.keys()].sort())

  const register = Effect.fnUntraced(function* <Fields, Encoded, R>(
    handler: CommandHandler<Fields, Encoded, R>
  ) {
    const context = yield* withoutParentSpan(Effect.context<R>())
    const run = runner(handler)
    const { type } = handler
    const counted = countCommand(type)
    const inOwnFiber = runInOwnFiber(yield* makeAwaitEnd, type)
    yield* Effect.acquireRelease(
      Effect.suspend(() => {
        if (commands.has(type)) {
          return new CommandAlreadyRegistered({ type })
        }
        commands.set(type, (command, options) =>
          counted(withDispatchTimeout(inOwnFiber(Effect.provide(run(command), context)), type, options))
        )
        return Effect.void
      }),
      () => Effect.sync(() => commands.delete(type))
    )
  })

  const dispatch = (command: Command, options: DispatchOptions = {}): Effect.Effect<unknown, DispatchError> =>
    Effect.suspend(() => {
      const run = commands.get(command.type)
      return run === undefined
        ? countUnknownCommand.pipe(
            Effect.zipRight(types),
            Effect.flatMap((known) => new UnknownCommand({ type: command.type, known }))
          )
        : run(command, options)
    }).pipe(
      Effect.withSpan("CommandBus.dispatch", { attributes: { type: command.type }, captureStackTrace: false })
    )

  return CommandBus.of({ register, dispatch, types })
})

/**
 * The command bus of one process.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<CommandBus> = Layer.effect(CommandBus, make)

/**
 * Fails in time even if the handler cannot be interrupted; the handler then continues in the background.
 *
 * @since 0.1.0
 * @category utils
 */
export const withDispatchTimeout = <A, R>(
  dispatch: Effect.Effect<A, DispatchError, R>,
  type: string,
  { timeout }: DispatchOptions
): Effect.Effect<A, DispatchError, R> =>
  timeout === undefined
    ? dispatch
    : Effect.timeoutFail(Effect.disconnect(dispatch), {
        duration: timeout,
        onTimeout: () => new CommandUnavailable({ type, reason: "timeout", mayHaveRun: true })
      })

/**
 * How many commands of one type run at the same time, or wait, such as for a disk. A further command is refused.
 *
 * @since 0.1.0
 * @category constants
 */
export const maxRunning = 1024

/** Runs a handler in a fiber that the end of its registration can wait for and interrupt, without an effect on the caller. */
const runInOwnFiber =
  (awaitEnd: AwaitEnd, type: string) =>
  (handled: Effect.Effect<unknown, DispatchError>): Effect.Effect<unknown, DispatchError> =>
    Effect.uninterruptibleMask((restore) => {
      if (awaitEnd.count() >= maxRunning) {
        return new CommandUnavailable({ type, reason: "busy", mayHaveRun: false })
      }
      return Effect.flatMap(Effect.fork(restore(handled)), (fiber) => {
        awaitEnd.add(fiber)
        return restore(Fiber.await(fiber)).pipe(
          Effect.onInterrupt(() => Fiber.interrupt(fiber)),
          Effect.flatMap((exit) =>
            Exit.isInterrupted(exit)
              ? new CommandUnavailable({ type, reason: "lost", mayHaveRun: true })
              : exit
          )
        )
      })
    })

const runner = <Fields, Encoded, R>(handler: CommandHandler<Fields, Encoded, R>) => {
  const { run, type } = handler
  const decode = decodeCommandFields(handler)
  let hasDied = false
  /** Every defect is reported to its caller, but only the first of each command is logged. */
  const reportDefect = (cause: Cause.Cause<unknown>) =>
    Effect.suspend(() => {
      if (hasDied || !Cause.isDie(cause)) {
        return Effect.void
      }
      hasDied = true
      return Effect.logError(`The command "${type}" has died of a defect`, cause)
    })
  return (command: Command): Effect.Effect<unknown, DispatchError, R> =>
    decode(command).pipe(
      Effect.flatMap((decoded) =>
        Effect.suspend(() => run(decoded)).pipe(
          Effect.catchAllCause((cause) => Effect.zipRight(reportDefect(cause), failedBy(handler, cause)))
        )
      )
    )
}

/** Counts all command buses of the process together, with the labels of `Effect.tagMetrics`. */
const counter = Metric.counter("vitrine_commands_total", {
  description: "Commands dispatched, by type and outcome: ok, failed, invalid, unavailable or unknown",
  incremental: true
})

/** Not `Metric.tagged`: it makes a new array each time, and the metric would be looked up again. */
const count = (labels: ReadonlyArray<MetricLabel.MetricLabel>) =>
  Effect.map(FiberRef.get(FiberRef.currentMetricLabels), (tags) =>
    counter.unsafeUpdate(1, tags.length === 0 ? labels : [...labels, ...tags])
  )

/** Counts the dispatches of a registered command. An interrupted dispatch does not count. */
const countCommand = (type: string) => {
  const countAs = (outcome: string) =>
    count([MetricLabel.make("type", type), MetricLabel.make("outcome", outcome)])
  const ok = countAs("ok")
  const failed = countAs("failed")
  const failures: { readonly [tag: string]: Effect.Effect<void> } = {
    "vitrine/InvalidCommandFields": countAs("invalid"),
    "vitrine/CommandUnavailable": countAs("unavailable")
  }
  return <A, E extends DispatchError, R>(dispatch: Effect.Effect<A, E, R>) =>
    Effect.tapBoth(dispatch, { onSuccess: () => ok, onFailure: ({ _tag }) => failures[_tag] ?? failed })
}

/** Without the type: clients could make up any number of types. */
const countUnknownCommand = count([MetricLabel.make("outcome", "unknown")])
