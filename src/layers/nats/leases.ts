/**
 * Which instance has registered which command: one message for each in the stream of the state.
 *
 * A lease holds as long as its instance is connected and has the command. It is not renewed: whoever wants it asks that
 * instance, and takes it over where the server says that nobody is there to be asked. A process that is killed is gone for the server at
 * once; a machine that vanishes from the network, when the server notices that (its `ping_interval`, some minutes by
 * default).
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { ask, isNoSuchStream, isOutOfDate, NatsFailure } from "./NatsFailure.ts"
import type { Session } from "./Session.ts"
import { ensureState, lastOfEach, nameOf, type Place, stateStream, subjectOf } from "./streams.ts"

export interface Lease {
  /** The command. */
  readonly type: string
  readonly instance: string
  /** The sequence of its message. */
  readonly sequence: number
}

/**
 * Takes the lease of a command for an instance, and gives it, or that of the instance that has it already. `isHeld` asks
 * that one.
 */
export const claim = (
  session: Session,
  place: Place,
  type: string,
  instance: string,
  isHeld: (lease: Lease) => Effect.Effect<boolean>
): Effect.Effect<Lease, NatsFailure> =>
  Effect.gen(function* () {
    yield* ensureState(session, place)
    const subject = yield* subjectOfCommand(place, type)
    const present = yield* find(session, place, type)
    const isTaken = yield* Option.match(present, {
      onNone: () => Effect.succeed(false),
      onSome: (lease) => (lease.instance === instance ? Effect.succeed(true) : isHeld(lease))
    })
    if (Option.isSome(present) && isTaken) {
      return present.value
    }
    const lastSubjectSequence = Option.match(present, { onNone: () => 0, onSome: ({ sequence }) => sequence })
    const { seq: sequence } = yield* ask(() =>
      session.jetStream.publish(subject, encodeOwner({ instance }), { expect: { lastSubjectSequence } })
    )
    return { type, instance, sequence }
    // Whenever it is out of date, somebody else has claimed or released it: it is not for ever.
  }).pipe(Effect.retry({ while: isOutOfDate, schedule: Schedule.recurs(100) }))

/** Ends a lease, unless somebody else has it meanwhile. */
export const release = ({ manager }: Session, { prefix }: Place, { sequence }: Lease) =>
  ask(() => manager.streams.deleteMessage(stateStream(prefix), sequence, false))

/** The lease of a command. */
export const find = (
  { manager }: Session,
  place: Place,
  type: string
): Effect.Effect<Option.Option<Lease>, NatsFailure> =>
  Effect.gen(function* () {
    const subject = yield* subjectOfCommand(place, type)
    const message = yield* ask(() =>
      manager.streams.getMessage(stateStream(place.prefix), { last_by_subj: subject })
    )
    return Option.fromNullable(message).pipe(
      Option.flatMap(({ data, seq }) =>
        Option.map(decodeOwner(data), ({ instance }) => ({ type, instance, sequence: seq }))
      )
    )
  }).pipe(Effect.catchIf(isNoSuchStream, () => Effect.succeedNone))

/** All leases, whether their instances are connected or not. */
export const all = (session: Session, { prefix }: Place): Effect.Effect<ReadonlyArray<Lease>, NatsFailure> =>
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

const subjectOfCommand = ({ prefix }: Place, type: string) =>
  Option.match(subjectOf(prefix, "lease", type), {
    onNone: () =>
      Effect.fail(
        new NatsFailure({
          detail: `the type "${type.slice(0, 40)}…" is too long for a subject`,
          mayHaveHappened: false
        })
      ),
    onSome: Effect.succeed
  })

const Owner = Schema.parseJson(Schema.Struct({ instance: Schema.String }))

const encodeOwner = Schema.encodeSync(Owner)

const decodeOwner = (data: Uint8Array) => Schema.decodeOption(Owner)(new TextDecoder().decode(data))
