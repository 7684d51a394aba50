/**
 * Which instance has registered which command: one message for each command in the stream of the state.
 *
 * A lease is valid as long as its instance is connected and has the command. Leases are not renewed. An instance that
 * wants the command asks the instance that has it, and takes the lease over if the server reports that there are no
 * responders. The server notices a killed process at once, and a machine that vanishes from the network after its
 * `ping_interval` (some minutes by default).
 */
import type { StoredMsg } from "@nats-io/jetstream"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { ask, isNoSuchStream, isOutOfDate, isWithoutResponders, type NatsFailure } from "./NatsFailure.ts"
import type { Session } from "./Session.ts"
import { ensureState, lastOfEach, nameOf, type StreamOptions, stateStream, subjectOf } from "./streams.ts"

export interface Lease {
  /** The type of the command. */
  readonly type: string
  readonly instance: string
  /** The sequence of its message. */
  readonly sequence: number
}

/** A lease, and whether this claim created it. */
export interface Claim {
  readonly lease: Lease
  readonly isNew: boolean
}

/**
 * Takes the lease of a command for an instance. Gives this lease, or the lease of the instance that has the command
 * already, which `isHeld` asks. Anything else in its place is replaced.
 */
export const claim = (
  session: Session,
  options: StreamOptions,
  type: string,
  instance: string,
  isHeld: (lease: Lease) => Effect.Effect<boolean>
): Effect.Effect<Claim, NatsFailure> =>
  Effect.gen(function* () {
    const subject = yield* subjectOf(options.prefix, "lease", type)
    const last = yield* lastMessage(session, options, subject)
    const present = Option.flatMap(last, leaseOf(type))
    const isClaimed = yield* Option.match(present, {
      onNone: () => Effect.succeed(false),
      onSome: (lease) => (lease.instance === instance ? Effect.succeed(true) : isHeld(lease))
    })
    if (Option.isSome(present) && isClaimed) {
      return { lease: present.value, isNew: false }
    }
    yield* ensureState(session, options)
    const lastSubjectSequence = Option.match(last, { onNone: () => 0, onSome: ({ seq }) => seq })
    const { seq: sequence } = yield* ask(() =>
      session.jetStream.publish(subject, encodeOwner({ instance }), { expect: { lastSubjectSequence } })
    ).pipe(Effect.retry({ while: isWithoutResponders, schedule: untilServed }))
    return { lease: { type, instance, sequence }, isNew: true }
    // An outdated sequence means that somebody else has claimed or released the command in between, so this ends.
  }).pipe(Effect.retry({ while: isOutOfDate, schedule: Schedule.recurs(100) }))

/** A stream that another instance creates can be there for a moment before it receives messages. */
const untilServed = Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(10))

/** Ends a lease, unless another instance has it. */
export const release = ({ manager }: Session, { prefix }: StreamOptions, { sequence }: Lease) =>
  ask(() => manager.streams.deleteMessage(stateStream(prefix), sequence, false))

/** Finds the lease of a command. */
export const find = (
  session: Session,
  options: StreamOptions,
  type: string
): Effect.Effect<Option.Option<Lease>, NatsFailure> =>
  subjectOf(options.prefix, "lease", type).pipe(
    Effect.flatMap((subject) => lastMessage(session, options, subject)),
    Effect.map(Option.flatMap(leaseOf(type)))
  )

/** The message of a lease. */
const lastMessage = ({ manager }: Session, { prefix }: StreamOptions, subject: string) =>
  ask(() => manager.streams.getMessage(stateStream(prefix), { last_by_subj: subject })).pipe(
    Effect.map(Option.fromNullable),
    Effect.catchIf(isNoSuchStream, () => Effect.succeedNone)
  )

const leaseOf =
  (type: string) =>
  ({ data, seq }: StoredMsg): Option.Option<Lease> =>
    Option.map(decodeOwner(data), ({ instance }) => ({ type, instance, sequence: seq }))

/** All leases, whether their instances are connected or not. */
export const all = (
  session: Session,
  { prefix }: StreamOptions
): Effect.Effect<ReadonlyArray<Lease>, NatsFailure> =>
  lastOfEach(session, stateStream(prefix), `${prefix}.lease.*`).pipe(
    Effect.catchIf(isNoSuchStream, () => Effect.succeed([])),
    Effect.map((messages) =>
      messages.flatMap(({ data, info, subject }) =>
        Option.toArray(
          Option.map(decodeOwner(data), ({ instance }) => ({
            type: nameOf(subject),
            instance,
            sequence: info.streamSequence
          }))
        )
      )
    )
  )

const Owner = Schema.parseJson(Schema.Struct({ instance: Schema.UUID }))

const encodeOwner = Schema.encodeSync(Owner)

const decodeOwner = (data: Uint8Array) => Schema.decodeOption(Owner)(new TextDecoder().decode(data))
