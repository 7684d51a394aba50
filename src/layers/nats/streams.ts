/**
 * The two streams of a prefix: `…_events` has the events and numbers them; `…_state` has the state that all instances
 * share.
 *
 * The last 1,024 events of each name are kept, for subscribers that are behind; the last one is kept forever. The size
 * of a stream depends on names and payloads, within the limits of the server or the account.
 */
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  type JsMsg,
  RetentionPolicy,
  StorageType,
  type StreamInfo
} from "@nats-io/jetstream"
import { createInbox, nanos } from "@nats-io/transport-node"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { endedBy } from "../../internal/Schedules.ts"
import { ask, inTime, isNoSuchStream, NatsFailure } from "./NatsFailure.ts"
import type { Session } from "./Session.ts"

/** The purpose of a subject. */
export type Space = "events" | "backlog" | "lease"

/** The server's limit for a whole protocol line is 4,096 bytes. */
const maxTokenLength = 1024

/**
 * The subject of a name; the name is one token. Letters, digits and `:_-` are unchanged, so that
 * `content:version:promoted` is readable in the tools of NATS.
 */
export const subjectOf = (prefix: string, space: Space, name: string): Effect.Effect<string, NatsFailure> => {
  const token = name === "" ? emptyToken : name.replace(/[^\w:-]/g, escapeUnit)
  return token.length > maxTokenLength
    ? new NatsFailure({
        detail: `the name "${name.slice(0, 40)}…" is too long for a subject`,
        mayHaveHappened: false
      })
    : Effect.succeed(`${prefix}.${space}.${token}`)
}

/** The name in a subject. A token of another program is returned unchanged. */
export const nameOf = (subject: string): string => {
  const token = subject.split(".").slice(2).join(".")
  return token === emptyToken
    ? ""
    : token.replace(/=([0-9a-f]{4})/g, (_, digits: string) =>
        String.fromCharCode(Number.parseInt(digits, 16))
      )
}

const emptyToken = "="

/** Escapes UTF-16 code units, not characters, so that half of a surrogate pair survives too. */
const escapeUnit = (unit: string): string => `=${unit.charCodeAt(0).toString(16).padStart(4, "0")}`

export const eventStream = (prefix: string): string => `${prefix}_events`

export const stateStream = (prefix: string): string => `${prefix}_state`

export interface StreamOptions {
  readonly prefix: string
  readonly replicas: number
}

/** The stream of events, created if it is missing. */
export const ensureEvents = (
  session: Session,
  options: StreamOptions
): Effect.Effect<StreamInfo, NatsFailure> =>
  ensure(session, options, eventStream(options.prefix), ["events"], 1024)

/** The stream of the state, created if it is missing. */
export const ensureState = (
  session: Session,
  options: StreamOptions
): Effect.Effect<StreamInfo, NatsFailure> =>
  ensure(session, options, stateStream(options.prefix), ["backlog", "lease"], 1)

/** An existing stream is used as it is: an administrator may have changed it. */
const ensure = (
  { manager }: Session,
  { prefix, replicas }: StreamOptions,
  name: string,
  spaces: ReadonlyArray<Space>,
  maxMessages: number
): Effect.Effect<StreamInfo, NatsFailure> => {
  const find = ask(() => manager.streams.info(name))
  const create = ask(() =>
    manager.streams.add({
      name,
      subjects: spaces.map((space) => `${prefix}.${space}.*`),
      max_msgs_per_subject: maxMessages,
      num_replicas: replicas,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old
    })
  )
  return Effect.catchIf(find, isNoSuchStream, () =>
    Effect.catchAll(create, (failure) => Effect.mapError(find, () => failure))
  )
}

/** How long a consumer may be silent, in milliseconds. */
const heartbeat = 5000

/**
 * Receives messages of a stream until the scope ends. The consumer exists when this returns, so that it receives all
 * messages stored from then on.
 */
export const consume = Effect.fnUntraced(function* (
  { ended, jetStream, manager }: Session,
  stream: string,
  from: Partial<ConsumerConfig>,
  onMessage: (message: JsMsg) => void
) {
  const lost = yield* Deferred.make<never, NatsFailure>()
  const lose = (detail: string) =>
    Deferred.unsafeDone(lost, new NatsFailure({ detail, mayHaveHappened: false }))
  const consumer = yield* Effect.acquireRelease(
    ask(() =>
      manager.consumers.add(stream, {
        ...from,
        deliver_subject: createInbox(),
        ack_policy: AckPolicy.None,
        max_deliver: 1,
        mem_storage: true,
        num_replicas: 1,
        inactive_threshold: nanos(4 * heartbeat),
        idle_heartbeat: nanos(heartbeat),
        flow_control: true
      })
    ),
    ({ name }) => Effect.forkDaemon(Effect.ignore(ask(() => manager.consumers.delete(stream, name))))
  )
  let delivered = 0
  const messages = yield* Effect.acquireRelease(
    ask(async () =>
      (await jetStream.consumers.getPushConsumer(stream, consumer.name)).consume({
        callback: (message) => {
          delivered += 1
          if (message.info.deliverySequence === delivered) {
            onMessage(message)
          } else {
            lose("messages were lost on their way")
          }
        }
      })
    ),
    (messages) => Effect.promise(() => Promise.resolve(messages.close()))
  )
  yield* Effect.forkScoped(
    Effect.promise(async () => {
      for await (const status of messages.status()) {
        if (status.type === "heartbeats_missed") {
          lose("the server has gone silent")
        } else if (status.type === "consumer_deleted") {
          lose("the server has deleted the consumer")
        } else if (status.type === "heartbeat" && status.lastConsumerSequence > delivered) {
          lose("messages were lost on their way")
        }
      }
    })
  )
  yield* Effect.forkScoped(Effect.map(ended, () => lose("the connection is lost")))
  return {
    /** How many stored messages the consumer will deliver. */
    pending: consumer.num_pending,
    /** The sequence after which it delivers. */
    after: consumer.delivered.stream_seq,
    /** Fails if messages may have been lost, or if no more will come. */
    lost: Deferred.await(lost)
  }
})

/** The last message of each subject, in the order of the stream. */
export const lastOfEach = (
  session: Session,
  stream: string,
  subjects: string
): Effect.Effect<ReadonlyArray<JsMsg>, NatsFailure> =>
  Effect.gen(function* () {
    const messages: Array<JsMsg> = []
    const complete = yield* Deferred.make<void>()
    let expected = Number.POSITIVE_INFINITY
    const check = () => {
      if (messages.length >= expected) {
        Deferred.unsafeDone(complete, Effect.void)
      }
    }
    const { lost, pending } = yield* consume(
      session,
      stream,
      { deliver_policy: DeliverPolicy.LastPerSubject, filter_subject: subjects },
      (message) => {
        messages.push(message)
        if (message.info.pending === 0) {
          expected = messages.length
        }
        check()
      }
    )
    expected = Math.min(expected, pending)
    check()
    yield* Deferred.await(complete).pipe(endedBy(lost))
    return messages
  }).pipe(Effect.scoped, inTime)

/** A payload that is no JSON comes from another program, and is delivered as text. */
export const payloadOf = (data: Uint8Array): unknown => {
  const text = new TextDecoder().decode(data)
  return Option.getOrElse(parseJson(text), () => text)
}

const parseJson = Option.liftThrowable((text: string): unknown => JSON.parse(text))
