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
import { NatsConnection, type Session } from "./NatsConnection.ts"

export const make = Effect.gen(function* () {
  const nats = yield* NatsConnection
  const local = yield* CommandBusMemory.make
  const instance = yield* makeInstance(nats, local.dispatch)
  const registered = new Set<string>()
  const oneAtATime = Effect.unsafeMakeSemaphore(1)

  /** The lease of a command, whoever has it. */
  const claim = (session: Session, type: string) =>
    Effect.zipRight(
      instance.attend(session),
      leases.claim(session, nats, type, instance.id, (other) => instance.isConnected(session, other))
    )

  /** Takes the lease in every session that follows: the server may have lost it, or have given it to another. */
  const keep = (type: string, giveUp: Effect.Effect<void>) =>
    nats.sessions.pipe(
      Stream.flatMap(
        (session) => Stream.fromEffect(Effect.option(Effect.retry(claim(session, type), claimPauses))),
        { switch: true }
      ),
      Stream.filter(Option.exists((lease) => lease.instance !== instance.id)),
      Stream.runHead,
      Effect.flatMap(() => Effect.logError(`The command "${type}" is registered by another process as well`)),
      Effect.zipRight(giveUp)
    )

  const release = (type: string) =>
    Effect.gen(function* () {
      registered.delete(type)
      const session = yield* nats.session
      const lease = yield* leases.find(session, nats, type)
      yield* Effect.when(
        Effect.flatMap(lease, (lease) => leases.release(session, nats, lease)),
        () => Option.exists(lease, (lease) => lease.instance === instance.id)
      )
    }).pipe(oneAtATime.withPermits(1), Effect.ignore)

  const acquire = (type: string) =>
    Effect.gen(function* () {
      if (registered.has(type)) {
        return yield* new CommandAlreadyRegistered({ type })
      }
      const lease = yield* Effect.option(Effect.flatMap(nats.session, (session) => claim(session, type)))
      if (Option.exists(lease, (lease) => lease.instance !== instance.id)) {
        return yield* new CommandAlreadyRegistered({ type })
      }
      registered.add(type)
    }).pipe(oneAtATime.withPermits(1))

  const register = Effect.fnUntraced(function* <Fields, Encoded, R>(
    handler: CommandHandler<Fields, Encoded, R>
  ) {
    const { type } = handler
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    const registration = Effect.gen(function* () {
      yield* Effect.acquireRelease(acquire(type), () => release(type))
      yield* local.register(handler)
      yield* Effect.forkIn(keep(type, Scope.close(scope, Exit.void)), yield* Effect.scope)
    })
    yield* Effect.onError(Scope.extend(registration, scope), (cause) =>
      Scope.close(scope, Exit.failCause(cause))
    )
  })

  const types = Effect.gen(function* () {
    const session = yield* nats.session
    const known = yield* leases.all(session, nats)
    const others = new Set(known.map(({ instance }) => instance).filter((other) => other !== instance.id))
    const connected = yield* Effect.filter([...others], (other) => instance.isConnected(session, other), {
      concurrency: 16
    })
    return known.filter((lease) => connected.includes(lease.instance)).map(({ type }) => type)
  }).pipe(
    Effect.orElseSucceed((): ReadonlyArray<string> => []),
    Effect.map((others) => [...new Set([...registered, ...others])].sort())
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
    Effect.suspend(() =>
      registered.has(command.type)
        ? local.dispatch(command, options)
        : withDispatchTimeout(dispatchElsewhere(command), command.type, options)
    )

  return CommandBus.of({ register, dispatch, types })
})

export const layer: Layer.Layer<CommandBus, never, NatsConnection> = Layer.scoped(CommandBus, make)

const claimPauses = Schedule.spaced("5 seconds").pipe(Schedule.jittered)
