/**
 * The command bus of all processes with the same prefix on one NATS.
 *
 * This process executes its own commands without the server. Other commands go to the instance with their lease
 * (`Leases.ts`), and to no other, so that no command is executed twice. A command can be registered while the server is
 * away: its lease is taken when the server is back, and again if the server has lost it. If another instance then has
 * the lease, this instance logs that, and no longer offers the command.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { endWithin } from "../../internal/background.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
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
import { withDispatchTimeout } from "../memory/CommandBusMemory.ts"
import { makeInstance } from "./instance.ts"
import * as Leases from "./Leases.ts"
import { NatsConnection } from "./NatsConnection.ts"
import { requestTimeout, type Session } from "./Session.ts"

/**
 * As `layer`, without a layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<typeof CommandBus.Service, never, NatsConnection | Scope.Scope> = Effect.gen(
  function* () {
    const parts = yield* makeParts
    const { claiming, nats, registered } = parts
    yield* nats.sessions.pipe(
      Stream.flatMap(
        (session) =>
          Stream.interruptWhen(
            Stream.repeatEffectWithSchedule(claimAll(parts, session), claimPauses),
            session.ended
          ),
        { switch: true }
      ),
      Stream.runDrain,
      Effect.forkScoped
    )

    const register = Effect.fnUntraced(function* <Fields, Encoded, R>(
      handler: CommandHandler<Fields, Encoded, R>
    ) {
      const { type } = handler
      const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
      const giveUp = Scope.close(scope, Exit.void)
      const registration = Effect.zipRight(
        parts.local.register(handler),
        Effect.acquireReleaseInterruptible(acquire(parts, type, giveUp), () => release(parts, type))
      )
      yield* Effect.onError(Scope.extend(registration, scope), (cause) =>
        Scope.close(scope, Exit.failCause(cause))
      )
    })

    const types = typesOf(parts)

    const dispatch = (
      command: Command,
      options: DispatchOptions = {}
    ): Effect.Effect<unknown, DispatchError> =>
      Effect.suspend(() => {
        const { type } = command
        if (registered.has(type)) {
          return parts.local.dispatch(command, options)
        }
        // Nobody knows yet which process will get it.
        return claiming.has(type)
          ? new CommandUnavailable({ type, reason: "unreachable", mayHaveRun: false })
          : withDispatchTimeout(dispatchElsewhere(parts, types, command), type, options)
      })

    return CommandBus.of({ register, dispatch, types })
  }
)

/**
 * The command bus of all processes with the same prefix. Commands of this process run without the server.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<CommandBus, never, NatsConnection> = Layer.scoped(CommandBus, make)

/** A command of this process. */
interface Registration {
  /** The lease, if the server has granted it. */
  readonly lease: Option.Option<Leases.Lease>
  readonly giveUp: Effect.Effect<void>
}

/** How long a lease may be lost on the server before it is claimed again. */
const claimPauses = Schedule.spaced("5 seconds").pipe(Schedule.jittered)

/** What the functions of a bus share. */
type Parts = Effect.Effect.Success<typeof makeParts>

const makeParts = Effect.gen(function* () {
  const nats = yield* NatsConnection
  const local = yield* CommandBusMemory.make
  const registered = new Map<string, Registration>()
  /** Commands whose lease is being requested: other instances must not take them over. */
  const claiming = new Set<string>()
  const instance = yield* makeInstance(nats, {
    has: (type) => registered.has(type) || claiming.has(type),
    execute: (command) => local.dispatch(command)
  })
  const warning = makeWarnWhile(
    (commands) => `Other processes do not know the commands ${commands}. Trying again until they do.`,
    "Other processes know all commands of this one again"
  )
  return { claiming, instance, local, nats, registered, warning }
})

const claim = ({ instance, nats }: Parts, session: Session, type: string) =>
  Effect.zipRight(
    instance.subscribe(session),
    Leases.claim(session, nats, type, instance.id, (lease) => instance.isHeld(session, lease))
  )

/** Claims the command again, in case the server has lost its lease. */
const claimAgain = (parts: Parts, session: Session, type: string) =>
  Effect.gen(function* () {
    const { claiming, instance, nats, registered } = parts
    const { isNew, lease } = yield* claim(parts, session, type)
    const registration = registered.get(type)
    if (registration === undefined) {
      // The scope of the registration has ended.
      yield* Effect.unless(Leases.release(session, nats, lease), () => !isNew || claiming.has(type))
      return []
    }
    const isOurs = lease.instance === instance.id
    registered.set(type, { ...registration, lease: isOurs ? Option.some(lease) : Option.none() })
    if (!isOurs) {
      yield* Effect.logError(`The command "${type}" is registered by another process as well`)
      yield* registration.giveUp
    }
    return isNew && Option.isSome(registration.lease) ? [type] : []
  }).pipe(
    // If the connection was lost, its session has ended by then.
    Effect.retry(Schedule.addDelay(Schedule.recurs(1), () => "1 second")),
    Effect.mapError(({ detail }) => ({ type, detail }))
  )

/**
 * Makes all commands of this process known to the server: it may have lost them, or given them to another instance.
 */
const claimAll = (parts: Parts, session: Session) =>
  Effect.gen(function* () {
    const { nats, registered, warning } = parts
    const [failed, claimed] = yield* Effect.partition(
      registered.keys(),
      (type) => claimAgain(parts, session, type),
      { concurrency: 16 }
    )
    const unclaimed = Option.map(Array.head(failed), ({ detail }) => ({
      commands: failed.map(({ type }) => type).sort(),
      reason: detail
    }))
    yield* Ref.set(nats.unclaimed, unclaimed)
    const wasFailing = yield* warning.isFailing
    const lost = claimed.flat()
    yield* Option.match(unclaimed, {
      onNone: () => warning.works,
      onSome: ({ commands, reason }) => warning.fails(`${commands.join(", ")}: ${reason}`)
    })
    if (lost.length > 0 && wasFailing === Option.isSome(unclaimed)) {
      yield* Effect.logWarning(
        `The NATS server had lost which process has these commands; they are registered again: ${lost.sort().join(", ")}`
      )
    }
  })

/** Does not wait for a server that does not respond: an instance without the command does not hold its lease. */
const release = ({ nats, registered }: Parts, type: string) =>
  Effect.suspend(() => {
    const lease = Option.flatMap(Option.fromNullable(registered.get(type)), ({ lease }) => lease)
    registered.delete(type)
    return Effect.flatMap(Effect.all([nats.session, lease]), ([session, lease]) =>
      Leases.release(session, nats, lease)
    )
  }).pipe(Effect.ignore, endWithin("300 millis"))

const acquire = (parts: Parts, type: string, giveUp: Effect.Effect<void>) => {
  const { claiming, instance, nats, registered } = parts
  return Effect.gen(function* () {
    claiming.add(type)
    const claimed = Effect.flatMap(nats.session, (session) => claim(parts, session, type))
    const lease = Option.map(
      yield* Effect.option(Effect.timeout(claimed, requestTimeout)),
      ({ lease }) => lease
    )
    if (Option.exists(lease, (lease) => lease.instance !== instance.id)) {
      return yield* new CommandAlreadyRegistered({ type })
    }
    registered.set(type, { lease, giveUp })
  }).pipe(Effect.ensuring(Effect.sync(() => claiming.delete(type))))
}

/** The commands of all processes. */
const typesOf = ({ instance, nats, registered }: Parts) =>
  Effect.gen(function* () {
    const session = yield* nats.session
    const others = (yield* Leases.all(session, nats)).filter((lease) => lease.instance !== instance.id)
    const held = yield* Effect.filter(others, (lease) => instance.isHeld(session, lease), {
      concurrency: 16
    })
    return held.map(({ type }) => type)
  }).pipe(
    Effect.orElseSucceed((): ReadonlyArray<string> => []),
    Effect.map((others) => [...new Set([...registered.keys(), ...others])].sort())
  )

const dispatchElsewhere = (
  { instance, nats }: Parts,
  types: Effect.Effect<ReadonlyArray<string>>,
  command: Command
) =>
  Effect.gen(function* () {
    const { type } = command
    const unreachable = () => new CommandUnavailable({ type, reason: "unreachable", mayHaveRun: false })
    const session = yield* Effect.mapError(nats.session, unreachable)
    const lease = yield* Effect.mapError(Leases.find(session, nats, type), unreachable)
    if (Option.isNone(lease) || lease.value.instance === instance.id) {
      return yield* new UnknownCommand({ type, known: yield* types })
    }
    return yield* instance.dispatch(session, lease.value.instance, command)
  })
