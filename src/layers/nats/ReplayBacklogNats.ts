/**
 * The replay backlog of all processes with the same prefix on one NATS.
 *
 * The stream of events keeps the last event of each name, so published events of `EventBusNats` need no `remember`.
 * Events of another bus are kept beside the stream, until the stream is created again.
 */
import type { JsMsg } from "@nats-io/jetstream"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MutableRef from "effect/MutableRef"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { encodeJson } from "../../internal/jsonText.ts"
import { makeLatestEvents } from "../../internal/keptEvents.ts"
import { type RememberedEvent, ReplayBacklog, ReplayBacklogError } from "../../services/ReplayBacklog.ts"
import { NatsConnection } from "./NatsConnection.ts"
import { ask, inTime, isOutOfDate, type NatsFailure } from "./NatsFailure.ts"
import {
  ensureEvents,
  ensureState,
  eventStream,
  lastOfEach,
  nameOf,
  payloadOf,
  stateStream,
  subjectOf
} from "./streams.ts"

/**
 * As `layer`, without a layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<typeof ReplayBacklog.Service, never, NatsConnection> = Effect.gen(
  function* () {
    const nats = yield* NatsConnection
    const { prefix } = nats
    const events = eventStream(prefix)
    const state = stateStream(prefix)

    const write = (event: RememberedEvent) =>
      Effect.gen(function* () {
        const session = yield* nats.session
        const subject = yield* subjectOf(prefix, "backlog", event.name)
        const { created } = yield* ensureEvents(session, nats)
        yield* ensureState(session, nats)
        const replace = Effect.gen(function* () {
          const last = yield* ask(() => session.manager.streams.getMessage(state, { last_by_subj: subject }))
          const isOlder =
            last === null || !Option.exists(decodeEntry(last.data), isNewer({ ...event, created }))
          if (isOlder) {
            const expect = { lastSubjectSequence: last === null ? 0 : last.seq }
            yield* ask(() =>
              session.jetStream.publish(subject, encodeEntry({ ...event, created }), { expect })
            )
          }
        })
        // An outdated sequence means that somebody else has written in between, so this ends.
        yield* Effect.retry(replace, { while: isOutOfDate, schedule: Schedule.recurs(100) })
      }).pipe(inTime, Effect.mapError(failed("write")))

    /** Events from a feed of this connection are in the stream of events already, or that stream is gone. */
    const remember = (event: RememberedEvent) =>
      Effect.suspend(() => (MutableRef.get(nats.hasFeeds) ? Effect.void : write(event)))

    const snapshot = Effect.gen(function* () {
      const session = yield* nats.session
      const { created } = yield* ensureEvents(session, nats)
      yield* ensureState(session, nats)
      const [published, remembered] = yield* Effect.all(
        [
          lastOfEach(session, events, `${prefix}.events.*`),
          lastOfEach(session, state, `${prefix}.backlog.*`)
        ],
        { concurrency: 2 }
      )
      const others = remembered
        .flatMap(({ data }) => Option.toArray(decodeEntry(data)))
        .filter((entry) => entry.created === created)
        .map(({ data, name, sequence }) => ({ data, name, sequence }))
      return makeLatestEvents([...published.map(rememberedEvent), ...others]).inOrder()
    }).pipe(inTime, Effect.mapError(failed("read")))

    return ReplayBacklog.of({ remember, snapshot })
  }
)

/**
 * The replay backlog of all processes with the same prefix: the last event of each name.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<ReplayBacklog, never, NatsConnection> = Layer.effect(ReplayBacklog, make)

/** An event that another bus numbered, and when the stream of events was created that it was compared with. */
const Entry = Schema.Struct({
  name: Schema.String,
  data: Schema.String,
  sequence: Schema.Number,
  created: Schema.String
})

const EntryJson = Schema.parseJson(Entry)

const encodeEntry = Schema.encodeSync(EntryJson)

const decodeEntry = (data: Uint8Array) => Schema.decodeOption(EntryJson)(new TextDecoder().decode(data))

const isNewer =
  (event: typeof Entry.Type) =>
  (known: typeof Entry.Type): boolean =>
    known.created === event.created && known.sequence >= event.sequence

const rememberedEvent = ({ data, info, subject }: JsMsg): RememberedEvent => ({
  name: nameOf(subject),
  data: encodeJson(payloadOf(data)).text,
  sequence: info.streamSequence
})

const failed =
  (action: ReplayBacklogError["action"]) =>
  ({ cause, detail }: NatsFailure): ReplayBacklogError =>
    new ReplayBacklogError({ action, detail, cause })
