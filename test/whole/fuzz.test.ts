/**
 * Polite and hostile clients at random, many at a time.
 *
 * `FUZZ_ROUNDS` says how many rounds there are. A failure names its seed: with that as `FUZZ_SEED` the same
 * clients come again, and what failed is made as small as it goes.
 */
import { expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { messageOf } from "../../src/internal/SerializedError.ts"
import type { HttpTransport } from "../../src/layers/httpTransport/HttpTransport.ts"
import { CommandBus } from "../../src/services/CommandBus.ts"
import type { EventBus } from "../../src/services/EventBus.ts"
import { messages } from "../support/eventStream.ts"
import { withLog } from "../support/logged.ts"
import * as transport from "../support/transport.ts"
import { eventLoopTurn, eventually } from "../support/waiting.ts"
import { type Conversation, commands, conversation } from "./fuzz/conversations.ts"
import { type Answers, parse } from "./fuzz/responses.ts"

const { FUZZ_ROUNDS, FUZZ_SEED } = process.env

const rounds = Number(FUZZ_ROUNDS ?? 20)
const seed = Number(FUZZ_SEED ?? Date.now() % 2 ** 31)

/** How many clients there are at a time. */
const crowd = 50

const maxClients = 20

const layer = transport.layer({
  allowedCommands: Object.values(commands),
  exposeState: true,
  keepAliveMs: 20,
  maxClients
})

/** However busy the machine is, nobody waits longer than this for an answer or for the end of a connection. */
const patience = "15 seconds"

const registerCommands = Effect.gen(function* () {
  const bus = yield* CommandBus
  yield* bus.register({
    type: commands.echo,
    fields: Schema.Struct({ value: Schema.optional(Schema.Unknown) }),
    run: ({ value }) => Effect.succeed(value)
  })
  yield* transport.register(commands.slow, Effect.delay(Effect.void, "2 millis"))
  yield* transport.register(commands.fail, Effect.fail(new Error("no", { cause: new Error("why") })))
})

class Mistake extends Schema.TaggedError<Mistake>()("Mistake", {
  what: Schema.String,
  sent: Schema.Array(Schema.String),
  end: Schema.String,
  received: Schema.String
}) {
  override get message() {
    return `${this.what}\nsent: ${this.sent.join(",\n      ")}\nthen: ${this.end}\nreceived: ${this.received}`
  }
}

/** Bytes as an expression in Latin-1, short where they repeat themselves. */
const expression = (bytes: Buffer): string => {
  const text = bytes.toString("latin1")
  const terms: Array<string> = []
  let end = 0
  for (const { 0: run, 1: unit = "", index } of text.matchAll(/(.{1,16}?)\1{19,}/gs)) {
    terms.push(
      JSON.stringify(text.slice(end, index)),
      `${JSON.stringify(unit)}.repeat(${run.length / unit.length})`
    )
    end = index + run.length
  }
  return [...terms, JSON.stringify(text.slice(end))].join(" + ")
}

/** Whether all responses that are due are there; what is wrong where there are others. */
const compare = (due: Conversation["due"], { responses }: Answers): Either.Either<boolean, string> => {
  if (due === undefined) {
    return Either.right(true)
  }
  for (const [index, { status }] of responses.entries()) {
    const statuses = due[index] ?? []
    if (!statuses.includes(status)) {
      return Either.left(`Answer ${index + 1} is ${status} instead of ${statuses.join(" or ") || "none"}`)
    }
  }
  const mayBeLast = responses.some(({ isEventStream, status }) => isEventStream || status === 413)
  return Either.right(mayBeLast || responses.length === due.length)
}

const converse = (conversation: Conversation) =>
  Effect.gen(function* () {
    const { due, end, pieces } = conversation
    const mayLackBody = Buffer.concat(pieces).includes("HEAD")
    const connection = yield* transport.connect
    const mistake = (what: string) =>
      new Mistake({
        what,
        sent: pieces.map(expression),
        end,
        received: expression(connection.received.bytes())
      })

    const read = Effect.suspend(() =>
      Either.flatMap(parse(connection.received.bytes(), { mayLackBody }), (responses) =>
        Either.map(compare(due, responses), (isDone) => ({ ...responses, isDone }))
      )
    ).pipe(Effect.mapError(mistake))
    /** Whoever has an event stream must end it, who sends too much behind it to be noticed when he leaves. */
    const isStreaming = Effect.map(read, ({ responses }) => responses.at(-1)?.isEventStream === true)

    const talk = Effect.gen(function* () {
      if (end === "close unread") {
        connection.stall()
      }
      for (const piece of pieces) {
        connection.send(piece)
        yield* eventLoopTurn
      }
      if (end === "finish when answered") {
        const answered = eventually(Effect.map(read, ({ isDone }) => isDone))
        yield* Effect.raceFirst(connection.received.whole, answered)
      }
      if (end === "reset") {
        connection.reset()
      } else if (end !== "close") {
        connection.finish()
      }
      if (end === "finish" || end === "finish when answered") {
        yield* Effect.raceFirst(connection.received.whole, eventually(isStreaming))
        const { isDone, rest } = yield* read
        // Node ends its side when the client does, and what it would answer later is lost.
        if (rest.length > 0 || (end === "finish when answered" && !isDone)) {
          yield* mistake("An answer is missing, or not whole")
        }
      }
      yield* read
    })
    yield* Effect.timeoutFail(talk, {
      duration: patience,
      onTimeout: () => mistake("There was no answer, or no end")
    })
  }).pipe(Effect.scoped)

/** Without `Effect.timeout`, whose own fibers would count. */
const becomes = (what: string, expected: number, count: Effect.Effect<number>) =>
  Effect.gen(function* () {
    const from = performance.now()
    const isTooLate = () => performance.now() - from > Duration.toMillis(patience)
    yield* eventually(Effect.map(count, (now) => now <= expected || isTooLate()))
    if ((yield* count) > expected) {
      yield* Effect.fail(new Error(`There are more ${what} left than ${expected} (FUZZ_SEED=${seed})`))
    }
  })

const rootFibers = Effect.sync(() => Fiber.unsafeRoots().length)

/** How many sockets this process has, of both sides. */
const openSockets = Effect.sync(
  () => process.getActiveResourcesInfo().filter((resource) => resource === "TCPSocketWrap").length
)

/** What ends a process, or tells of a leak. */
const processTrouble = Effect.gen(function* () {
  const trouble: Array<unknown> = []
  const kinds = ["uncaughtException", "unhandledRejection", "warning"]
  const note = (what: unknown) => void trouble.push(what)
  yield* Effect.acquireRelease(
    Effect.forEach(kinds, (kind) => Effect.sync(() => process.on(kind, note))),
    () => Effect.forEach(kinds, (kind) => Effect.sync(() => process.off(kind, note)))
  )
  return trouble
})

/** One event, for everybody who listens now. */
const publisher = () => {
  let published = 0
  return {
    publish: Effect.suspend(() => transport.publish("content:version:promoted", { number: ++published })),
    all: () =>
      Array.from({ length: published }, (_, index) => ({
        event: "content:version:promoted",
        data: `{"number":${index + 1}}`
      }))
  }
}

const round = (conversations: ReadonlyArray<Conversation>) =>
  Effect.forEach(conversations, converse, { concurrency: "unbounded", discard: true })

const play = Effect.gen(function* () {
  const { all, publish } = publisher()
  const runtime = yield* Effect.runtime<EventBus | HttpTransport>()
  // Before a client comes: for a second after that, one fiber less waits for changes.
  yield* Effect.repeatN(eventLoopTurn, 50)
  const fibersAtRest = yield* rootFibers
  const steady = yield* transport.openEvents
  const socketsAtRest = yield* openSockets

  const property = FastCheck.asyncProperty(
    FastCheck.array(conversation, { minLength: 1, maxLength: crowd, size: "max" }),
    (conversations) => Runtime.runPromise(runtime)(Effect.zipRight(publish, round(conversations)))
  )
  const { counterexamplePath, errorInstance, failed } = yield* Effect.promise(() =>
    FastCheck.check(property, { numRuns: rounds, seed, endOnFailure: FUZZ_SEED === undefined })
  )
  if (failed) {
    return yield* Effect.dieMessage(`FUZZ_SEED=${seed} (${counterexamplePath}): ${messageOf(errorInstance)}`)
  }

  yield* transport.clientsBecome(1)
  yield* becomes("sockets", socketsAtRest, openSockets)
  yield* becomes("fibers", fibersAtRest, rootFibers)
  yield* publish
  yield* steady.received.until((text) => text.includes(all().at(-1)?.data ?? ""))
  const bytes = steady.received.bytes()
  expect(messages(bytes.subarray(bytes.indexOf("retry")))).toEqual(all())

  yield* Effect.scoped(Effect.replicateEffect(transport.openEvents, maxClients - 1, { discard: true }))
  yield* transport.clientsBecome(1)
  expect((yield* transport.request({ target: "/status" })).status).toBe(200)
  steady.finish()
  yield* transport.clientsBecome(0)
})

/** Clients that begin, and never come to an end. */
const leaveOpen = Effect.forEach(FastCheck.sample(conversation, { numRuns: crowd, seed }), ({ pieces }) =>
  Effect.map(transport.connect, ({ send }) => pieces.forEach(send))
)

it.scopedLive(
  "clients that send anything get documented responses, do not affect others and leave nothing behind",
  () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const trouble = yield* processTrouble
      const socketsBefore = yield* openSockets
      const fibersBefore = yield* rootFibers

      yield* Effect.gen(function* () {
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(layer, scope)
        yield* Effect.provide(Effect.zipRight(registerCommands, play), context).pipe(Effect.scoped)
        yield* Effect.provide(leaveOpen, context)
        const [duration] = yield* Effect.timed(Scope.close(scope, Exit.void))
        expect(Duration.toMillis(duration)).toBeLessThan(2000)
      }).pipe(Effect.scoped)

      yield* becomes("sockets", socketsBefore, openSockets)
      yield* becomes("fibers", fibersBefore, rootFibers)
      expect(trouble).toEqual([])
      expect(log).toEqual([expect.stringContaining("INFO HTTP transport on ")])
    }).pipe(withLog(log))
  },
  30_000 + rounds * 10_000
)
