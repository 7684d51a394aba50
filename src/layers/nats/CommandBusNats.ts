/**
 * The command bus of all processes with the same prefix on one NATS.
 *
 * Commands of this process are carried out here, without the server. Others go to the instance that has their lease
 * (`leases.ts`): to that one alone, so that no command is ever carried out twice. Without the server a command can be
 * registered all the same; its lease is taken when the server is there. An instance that finds then that another has it
 * logs that, and offers the command no more.
 */
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
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
import * as CommandBusMemory from "../memory/CommandBusMemory.ts"
import { withDispatchTimeout } from "../memory/dispatchTimeout.ts"
import { makeInstance } from "./instance.ts"
import * as leases from "./leases.ts"
import { NatsConnection } from "./NatsConnection.ts"
import { requestTimeout, type Session } from "./Session.ts"

export const make = Effect.gen(function* () {
  const nats = yield* NatsConnection
  const local = yield* CommandBusMemory.make
  /** By their types, with the leases that the server has granted. */
  const registered = new Map<string, Option.Option<leases.Lease>>()
  /** Those whose lease is being asked for: others do not take it over meanwhile. */
  const claiming = new Set<string>()
  const instance = yield* makeInstance(nats, {
    has: (type) => registered.has(type) || claiming.has(type),
    carryOut: (command) => local.dispatch(command)
  })

  /** Whether the lease of a command is this instance's, and not that of another. */
  const claim = (session: Session, type: string) =>
    Effect.gen(function* () {
      yield* instance.attend(session)
      const isHeld = (lease: leases.Lease) => instance.isHeld(session, lease)
      const lease = yield* leases.claim(session, nats, type, instance.id, isHeld)
      const isOurs = lease.instance === instance.id
      if (isOurs) {
        registered.set(type, Option.some(lease))
      }
      return isOurs
    })

  /** Takes the lease in every session that follows: the server may have lost it, or have given it to another. */
  const keep = (type: string, giveUp: Effect.Effect<void>) =>
    nats.sessions.pipe(
      Stream.flatMap((session) => Stream.fromEffect(Effect.retry(claim(session, type), claimPauses)), {
        switch: true
      }),
      Stream.filter((isOurs) => !isOurs),
      Stream.runHead,
      Effect.flatMap(() => Effect.logError(`The command "${type}" is registered by another process as well`)),
      Effect.zipRight(giveUp)
    )

  /** A server that does not respond is not waited for: what this instance does not have, it does not hold. */
  const release = (type: string) =>
    Effect.suspend(() => {
      const lease = Option.flatten(Option.fromNullable(registered.get(type)))
      registered.delete(type)
      return Effect.flatMap(Effect.all([nats.session, lease]), ([session, lease]) =>
        leases.release(session, nats, lease)
      )
    }).pipe(Effect.disconnect, Effect.timeout("300 millis"), Effect.ignore)

  const acquire = (type: string) =>
    Effect.gen(function* () {
      claiming.add(type)
      const claimed = Effect.flatMap(nats.session, (session) => claim(session, type))
      const isOurs = yield* Effect.option(Effect.timeout(claimed, requestTimeout))
      if (Option.contains(isOurs, false)) {
        return yield* new CommandAlreadyRegistered({ type })
      }
      if (Option.isNone(isOurs)) {
        registered.set(type, Option.none())
      }
    }).pipe(Effect.ensuring(Effect.sync(() => claiming.delete(type))))

  const register = Effect.fnUntraced(function* <Fields, Encoded, R>(
    handler: CommandHandler<Fields, Encoded, R>
  ) {
    const { type } = handler
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    const registration = Effect.gen(function* () {
      yield* local.register(handler)
      yield* Effect.acquireReleaseInterruptible(acquire(type), () => release(type))
      yield* Effect.forkIn(keep(type, Scope.close(scope, Exit.void)), yield* Effect.scope)
    })
    yield* Effect.onError(Scope.extend(registration, scope), (cause) =>
      Scope.close(scope, Exit.failCause(cause))
    )
  })

  const types = Effect.gen(function* () {
    const session = yield* nats.session
    const others = (yield* leases.all(session, nats)).filter((lease) => lease.instance !== instance.id)
    const held = yield* Effect.filter(others, (lease) => instance.isHeld(session, lease), { concurrency: 16 })
    return held.map(({ type }) => type)
  }).pipe(
    Effect.orElseSucceed((): ReadonlyArray<string> => []),
    Effect.map((others) => [...new Set([...registered.keys(), ...others])].sort())
  )

  const dispatchElsewhere = (command: Command) =>
    Effect.gen(function* () {
      const { type } = command
      const unreachable = () => new CommandUnavailable({ type, reason: "unreachable", mayHaveRun: false })
      const session = yield* Effect.mapError(nats.session, unreachable)
      const lease = yield* Effect.mapError(leases.find(session, nats, type), unreachable)
      if (Option.isNone(lease) || lease.value.instance === instance.id) {
        return yield* new UnknownCommand({ type, known: yield* types })
      }
      return yield* instance.dispatch(session, lease.value.instance, command)
    })

  const dispatch = (command: Command, options: DispatchOptions = {}): Effect.Effect<unknown, DispatchError> =>
    Effect.suspend(() => {
      const { type } = command
      if (registered.has(type)) {
        return local.dispatch(command, options)
      }
      // Whose it will be is not known yet.
      return claiming.has(type)
        ? new CommandUnavailable({ type, reason: "unreachable", mayHaveRun: false })
        : withDispatchTimeout(dispatchElsewhere(command), type, options)
    })

  return CommandBus.of({ register, dispatch, types })
})

export const layer: Layer.Layer<CommandBus, never, NatsConnection> = Layer.scoped(CommandBus, make)

const claimPauses = Schedule.spaced("5 seconds").pipe(Schedule.jittered)
