/**
 * The event bus of all processes with the same prefix on one NATS: a JetStream stream, whose sequence numbers are the
 * numbers of the events.
 */
import { DeliverPolicy, type JsMsg, type StreamInfo } from "@nats-io/jetstream"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Mailbox from "effect/Mailbox"
import * as MutableRef from "effect/MutableRef"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { encodeJson } from "../../internal/jsonText.ts"
import { makeEventRing, maxEvents } from "../../internal/keptEvents.ts"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { excerpt } from "../../internal/printable.ts"
import { type BusEvent, EventBus, EventBusError } from "../../services/EventBus.ts"
import { feed } from "../memory/definedEvents.ts"
import { NatsConnection } from "./NatsConnection.ts"
import { ask, inTime, isNoSuchStream, isWithoutResponders, type NatsFailure } from "./NatsFailure.ts"
import type { Session } from "./Session.ts"
import { consume, ensureEvents, eventStream, nameOf, payloadOf, subjectOf } from "./streams.ts"
import type { TooMuchWaits } from "./traffic.ts"

/** How long a feed waits for the server to come back before the feed fails, in milliseconds. */
const outageLimit = 15_000

/** The bytes that the protocol adds to a message. */
const overhead = 64

/**
 * As `layer`, without a layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<typeof EventBus.Service, never, NatsConnection> = Effect.gen(function* () {
  const nats = yield* NatsConnection
  const { prefix, traffic } = nats
  /** When the present stream of events was created, as this process knows it. */
  const created = yield* SubscriptionRef.make("")
  const ensure = (session: Session) =>
    Effect.tap(ensureEvents(session, nats), (info) => SubscriptionRef.set(created, info.created))

  const publish = (name: string, payload: unknown) =>
    Effect.gen(function* () {
      const subject = yield* Effect.mapError(subjectOf(prefix, "events", name), failed("publish"))
      const session = yield* Effect.mapError(nats.session, failed("publish"))
      const data = new TextEncoder().encode(encodeJson(payload).text)
      const limit = (session.connection.info?.max_payload ?? 0) - overhead
      if (data.length > limit) {
        return yield* refused(
          "publish",
          `the payload of "${name}" has ${data.length} bytes, and the server accepts ${limit}`
        )
      }
      yield* inTime(store(session, ensure(session), subject, data)).pipe(
        traffic.withEvent(data.length),
        Effect.mapError(failed("publish"))
      )
    }).pipe(Effect.tapError(({ detail }) => traffic.failed(excerpt(detail))))

  const subscribe = Effect.gen(function* () {
    const sequences = yield* Effect.acquireRelease(
      Mailbox.make<number, EventBusError>({ capacity: maxEvents, strategy: "sliding" }),
      (mailbox) => mailbox.shutdown
    )
    const ring = makeEventRing<BusEvent>()
    const subscribed = yield* Deferred.make<number, EventBusError>()
    const open = makeFeed(prefix, ensure, (event) => {
      ring.add(event)
      sequences.unsafeOffer(event.sequence)
    })
    let awaySince: number | undefined
    const onOpen = (after: number) =>
      Effect.suspend(() => {
        awaySince = undefined
        return Deferred.succeed(subscribed, after + 1)
      })
    const once = Effect.scoped(Effect.flatMap(nats.session, (session) => open(session, onOpen)))

    /** Whether another try may succeed. */
    const mayRecover = (failure: NatsFailure | NumberedAnew) =>
      Effect.zipWith(Deferred.isDone(subscribed), monotonicMillis, (isSubscribed, now) => {
        awaySince ??= now
        return isSubscribed && failure._tag !== "vitrine/NumberedAnew" && now - awaySince <= outageLimit
      })
    const follow = once.pipe(
      Effect.retry({ while: mayRecover, schedule: Schedule.spaced("250 millis") }),
      Effect.catchAll((failure) =>
        Effect.gen(function* () {
          const isSubscribed = yield* Deferred.isDone(subscribed)
          const error = failed(isSubscribed ? "receive" : "subscribe")(failure)
          yield* sequences.fail(error)
          yield* Deferred.fail(subscribed, error)
        })
      )
    )
    MutableRef.set(nats.hasFeeds, true)
    yield* Effect.forkScoped(follow)
    const first = yield* Effect.catchTag(
      inTime(Deferred.await(subscribed)),
      "vitrine/NatsFailure",
      (failure) => Effect.fail(failed("subscribe")(failure))
    )
    return feed(Stream.filterMap(Mailbox.toStream(sequences), ring.get), first)
  })

  /** A server that has just come back may not be ready at once. */
  const ensureSoon = (session: Session) =>
    Effect.retry(inTime(ensure(session)), { times: 20, schedule: Schedule.spaced("250 millis") })

  const emptied = Stream.mapEffect(nats.sessions, (session) => Effect.ignore(ensureSoon(session))).pipe(
    Stream.drain,
    Stream.merge(created.changes),
    Stream.filter((created) => created !== ""),
    Stream.changes,
    Stream.drop(1),
    Stream.as(undefined)
  )

  return EventBus.of({ publish, subscribe, emptied })
})

/**
 * The event bus of all processes with the same prefix. `publish` fails while there is no connection for long.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<EventBus, never, NatsConnection> = Layer.effect(EventBus, make)

const refused = (action: EventBusError["action"], detail: string) => new EventBusError({ action, detail })

const failed =
  (action: EventBusError["action"]) =>
  (failure: NatsFailure | NumberedAnew | TooMuchWaits): EventBusError => {
    const { detail } = failure
    if (failure._tag !== "vitrine/NatsFailure") {
      return refused(action, detail)
    }
    const { cause, mayHaveHappened } = failure
    const advice = action === "publish" && mayHaveHappened ? "; the event may have been published" : ""
    return new EventBusError({
      action,
      detail: `${detail}${advice}`,
      cause
    })
  }

/** Never retried: an event whose acknowledgement was lost would be published twice. */
const store = (
  session: Session,
  ensure: Effect.Effect<unknown, NatsFailure>,
  subject: string,
  data: Uint8Array
) => {
  const send = ask(() => session.jetStream.publish(subject, data))
  return Effect.catchIf(send, isWithoutResponders, () => Effect.zipRight(ensure, send))
}

/** The stream is another one than at the beginning of the feed, or has lost delivered events. */
class NumberedAnew extends Data.TaggedError("vitrine/NumberedAnew") {
  readonly detail = "the server has lost events, and numbers them from the start"
}

/** The last event that a feed has delivered, or the event after which it began. The latter has no time. */
interface Position {
  readonly sequence: number
  readonly time: string | undefined
}

/**
 * Delivers events as long as the session works. Run again in a new session, it continues behind the last delivered
 * event.
 */
const makeFeed = (
  prefix: string,
  ensure: (session: Session) => Effect.Effect<StreamInfo, NatsFailure>,
  offer: (event: BusEvent) => void
) => {
  const stream = eventStream(prefix)
  let created: string | undefined
  let position: Position | undefined

  const onMessage = ({ data, info, subject, time }: JsMsg) => {
    const sequence = info.streamSequence
    if (position === undefined || sequence > position.sequence) {
      position = { sequence, time: time.toISOString() }
      offer({ name: nameOf(subject), payload: payloadOf(data), sequence })
    }
  }

  const begin = (session: Session) =>
    Effect.gen(function* () {
      const info = yield* ensure(session)
      created = info.created
      const consumption = yield* consume(session, stream, { deliver_policy: DeliverPolicy.New }, onMessage)
      position ??= { sequence: consumption.after, time: undefined }
      return consumption
    })

  const goOn = (session: Session, { sequence, time }: Position) =>
    Effect.gen(function* () {
      const { manager } = session
      const info = yield* Effect.catchIf(
        ask(() => manager.streams.info(stream)),
        isNoSuchStream,
        () => new NumberedAnew()
      )
      // If nothing was delivered, there is no message to compare: no message has the sequence 0.
      const last =
        time === undefined ? null : yield* ask(() => manager.streams.getMessage(stream, { seq: sequence }))
      const isOther = last !== null && last.time.toISOString() !== time
      if (info.created !== created || info.state.last_seq < sequence || isOther) {
        return yield* new NumberedAnew()
      }
      const from = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: sequence + 1 }
      return yield* consume(session, stream, from, onMessage)
    })

  /** `onOpen` gets the sequence after which the session delivers. */
  return (session: Session, onOpen: (after: number) => Effect.Effect<unknown>) =>
    Effect.gen(function* () {
      const { after, lost } = yield* position === undefined ? begin(session) : goOn(session, position)
      yield* onOpen(after)
      return yield* lost
    })
}
