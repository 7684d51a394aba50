/**
 * The command bus of one process, as seen by other processes: how it is reached, what it executes for them, and what
 * they execute for it.
 */
import { randomUUID } from "node:crypto"
import { createInbox, type Msg, type PublishOptions } from "@nats-io/transport-node"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { encodeJson } from "../../internal/jsonText.ts"
import { endedBy } from "../../internal/Schedules.ts"
import {
  type Command,
  CommandFailed,
  CommandUnavailable,
  DispatchError,
  InvalidCommandFields
} from "../../services/CommandBus.ts"
import type { Lease } from "./Leases.ts"
import { ask, attempt, isWithoutResponders } from "./NatsFailure.ts"
import type { Session } from "./Session.ts"
import type { StreamOptions } from "./streams.ts"
import { maxCommands, type Traffic } from "./traffic.ts"

/** How often an instance that waits for a result asks whether the command still runs. */
const askEvery = "2 seconds"

/** How long an instance has to answer a question, in milliseconds. */
const questionTimeout = 2000

/** The commands of this process. */
export interface Commands {
  readonly has: (type: string) => boolean
  readonly execute: (command: Command) => Effect.Effect<unknown, DispatchError>
}

type Running = FiberMap.FiberMap<string>

const onDispatch = (
  running: Running,
  { execute }: Commands,
  message: Msg,
  command: Command,
  limit: number
): Effect.Effect<void> =>
  Effect.gen(function* () {
    if ((yield* FiberMap.size(running)) >= maxCommands) {
      message.respond(encodeResult(Either.left(notRun(command, "busy"))))
      return
    }
    const respond = (result: Either.Either<unknown, DispatchError>) =>
      Effect.sync(() => message.respond(withinLimit(command, result, limit)))
    yield* FiberMap.run(
      running,
      message.reply ?? "",
      Effect.flatMap(Effect.either(execute(command)), respond)
    )
  })

/** Answers a request of another instance. */
const onRequest = (
  running: Running,
  commands: Commands,
  message: Msg,
  request: Request,
  limit: number
): Effect.Effect<void> => {
  switch (request.do) {
    case "dispatch":
      return onDispatch(running, commands, message, request.command, limit)
    case "cancel":
      return FiberMap.remove(running, request.id)
    case "isRunning":
      return Effect.map(FiberMap.has(running, request.id), (isRunning) => {
        message.respond(encodeMessage(isRunning))
      })
    case "isHeld":
      return Effect.sync(() => void message.respond(encodeMessage(commands.has(request.type))))
  }
}

export const makeInstance = Effect.fnUntraced(function* (
  { prefix, traffic }: StreamOptions & { readonly traffic: Traffic },
  commands: Commands
) {
  const id = randomUUID()
  const subjectOf = (instance: string) => `${prefix}.instance.${instance}`
  const send = ({ connection }: Session, instance: string, data: Uint8Array, options?: PublishOptions) =>
    attempt(() => connection.publish(subjectOf(instance), data, options))
  const running: Running = yield* FiberMap.make<string>()
  const runFork = Runtime.runFork(yield* Effect.runtime())
  const subscribed = new WeakSet<Session>()

  /** Makes the instance reachable in a session. Runs before later requests of the session. */
  const subscribe = (session: Session) =>
    attempt(() => {
      if (subscribed.has(session)) {
        return
      }
      subscribed.add(session)
      session.connection.subscribe(subjectOf(id), {
        callback: (error, message) => {
          if (error === null) {
            const request = decodeRequest(message.data)
            if (Option.isSome(request)) {
              runFork(onRequest(running, commands, message, request.value, limitOf(session)))
            }
          }
        }
      })
    })

  /**
   * The answer of an instance. `false` if no instance of that name is connected; `true` if the answer does not come in
   * time, because the instance is busy.
   */
  const asks = ({ connection }: Session, instance: string, question: Request): Effect.Effect<boolean> =>
    ask(() =>
      connection.request(subjectOf(instance), encodeMessage(question), { timeout: questionTimeout })
    ).pipe(
      Effect.match({
        onFailure: (failure) => !isWithoutResponders(failure),
        onSuccess: ({ data }) => Option.contains(decodeReply(data), true)
      })
    )

  /** Whether the instance of a lease is connected and still has the command. */
  const isHeld = (session: Session, { instance, type }: Lease) =>
    asks(session, instance, { do: "isHeld", type })

  /** Asks another instance to execute a command, and cancels the command when it is interrupted. */
  const dispatch = (session: Session, instance: string, command: Command) =>
    Effect.gen(function* () {
      const { type } = command
      const { connection } = session
      const lost = new CommandUnavailable({ type, reason: "lost", mayHaveRun: true })
      const data = encodeMessage({ do: "dispatch", command })
      const limit = limitOf(session)
      if (data.length > limit) {
        const issues = `they have ${data.length} bytes, and NATS accepts ${limit}`
        return yield* new InvalidCommandFields({ type, issues })
      }
      const inbox = createInbox()
      const reply = yield* Deferred.make<unknown, DispatchError>()
      yield* Effect.acquireRelease(
        attempt(() =>
          connection.subscribe(inbox, {
            callback: (error, message) =>
              Deferred.unsafeDone(reply, error === null ? resultOf(message, command) : lost)
          })
        ),
        (subscription) => Effect.sync(() => subscription.unsubscribe())
      )
      const isRunning = asks(session, instance, { do: "isRunning", id: inbox })
      const untilLost = Effect.repeat(Effect.delay(isRunning, askEvery), { while: (isRunning) => isRunning })
      yield* send(session, instance, data, { reply: inbox })
      return yield* Deferred.await(reply).pipe(
        endedBy(Effect.zipRight(endedBy(session.ended)(untilLost), lost)),
        Effect.onInterrupt(() =>
          Effect.ignore(send(session, instance, encodeMessage({ do: "cancel", id: inbox })))
        )
      )
    }).pipe(
      Effect.scoped,
      traffic.withCommand,
      Effect.catchTags({
        "vitrine/NatsFailure": () => notRun(command, "unreachable"),
        "vitrine/TooMuchWaits": () => notRun(command, "busy")
      })
    )

  return { id, subscribe, isHeld, dispatch }
})

/** The largest message, in bytes. */
const limitOf = ({ connection }: Session): number => connection.info?.max_payload ?? 0

const withinLimit = (
  { type }: Command,
  result: Either.Either<unknown, DispatchError>,
  limit: number
): Uint8Array => {
  const data = encodeResult(result)
  const cause = new Error(`the result has ${data.length} bytes, and NATS accepts ${limit}`)
  return data.length <= limit ? data : encodeResult(Either.left(new CommandFailed({ type, cause })))
}

const notRun = ({ type }: Command, reason: CommandUnavailable["reason"]) =>
  new CommandUnavailable({ type, reason, mayHaveRun: false })

const resultOf = (message: Msg, command: Command): Effect.Effect<unknown, DispatchError> =>
  message.headers?.code === 503
    ? notRun(command, "unreachable")
    : Option.match(decodeResult(message.data), {
        onNone: () =>
          new CommandFailed({ type: command.type, cause: new Error("the result is not one of Vitrine's") }),
        onSome: (result) => ("error" in result ? result.error : Effect.succeed(result.value))
      })

/** A message to an instance. The `id` of a dispatch is the subject for its result. */
const Request = Schema.parseJson(
  Schema.Union(
    Schema.Struct({
      do: Schema.Literal("dispatch"),
      command: Schema.Struct({ type: Schema.String }, { key: Schema.String, value: Schema.Unknown })
    }),
    Schema.Struct({ do: Schema.Literal("cancel"), id: Schema.String }),
    /** Whether the instance is executing that dispatch. */
    Schema.Struct({ do: Schema.Literal("isRunning"), id: Schema.String }),
    /** Whether the instance has registered that command. */
    Schema.Struct({ do: Schema.Literal("isHeld"), type: Schema.String })
  )
)
type Request = typeof Request.Type

/** The answer to a question. */
const Reply = Schema.parseJson(Schema.Boolean)

const Result = Schema.parseJson(
  Schema.Union(Schema.Struct({ error: DispatchError }), Schema.Struct({ value: Schema.Unknown }))
)

const decoder = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (data: Uint8Array) => decode(new TextDecoder().decode(data))
}

const encodeMessage = (value: unknown): Uint8Array => new TextEncoder().encode(encodeJson(value).text)

const encodeError = Schema.encodeSync(DispatchError)

const decodeRequest = decoder(Request)

const decodeReply = decoder(Reply)

const encodeResult = (result: Either.Either<unknown, DispatchError>): Uint8Array =>
  encodeMessage(
    Either.match(result, {
      onLeft: (error) => ({ error: encodeError(error) }),
      onRight: (value) => ({ value: value ?? null })
    })
  )

const decodeResult = decoder(Result)
