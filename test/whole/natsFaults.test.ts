/**
 * What users of the services on NATS see while the server is killed, emptied, suspended, or keeps them out.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { CommandUnavailable } from "../../src/services/CommandBus.ts"
import { withJumpingClock } from "../support/jumpingClock.ts"
import { startNatsEdge } from "../support/natsEdge.ts"
import {
  administer,
  collect,
  countEmptied,
  expectExact,
  greet,
  insist,
  publishNumbers,
  startInstance,
  until
} from "../support/natsInstance.ts"
import { startNatsServer } from "../support/natsServer.ts"
import { isMissing } from "../support/programs.ts"
import { mayMount, smallDisk } from "../support/tmpfs.ts"

const hasUnknown = Predicate.hasProperty("unknownElsewhere")

// Most of a test is waiting for a server that is away.
describe.skipIf(isMissing("nats-server")).concurrent("the services on NATS", () => {
  it.scopedLive("lose no event when the server is stopped or killed, and comes back with its store", () =>
    Effect.gen(function* () {
      const server = yield* startNatsServer()
      const one = yield* startInstance({ servers: server.url })
      const other = yield* startInstance({ servers: server.url })
      const { last, seen } = yield* collect(other.events)
      yield* one.commands.register(greet)
      const { accepted, end, more } = yield* publishNumbers(one.events)
      for (const signal of ["SIGKILL", "SIGTERM", "SIGKILL"] as const) {
        yield* more(200)
        yield* server.signal(signal)
        const late = yield* Effect.timed(Effect.flip(one.backlog.snapshot))
        expect(Duration.toMillis(late[0])).toBeLessThan(6000)
        yield* server.start
      }
      yield* more(200)
      yield* end
      yield* last
      expectExact(seen, accepted)
      const names = (yield* one.backlog.snapshot).map(({ name }) => name)
      expect([...names].sort()).toEqual(["last", "name 0", "name 1", "name 2"])
      expect(yield* insist(other.commands.dispatch({ type: "greet", name: "Ada" }))).toBe("Hello Ada")
      expect(one.log.filter((line) => line.startsWith("INFO Connected"))).toHaveLength(4)
      expect(one.log.filter((line) => line.includes("the connection is lost"))).toHaveLength(3)
    })
  )

  it.scopedLive(
    "continue when the server is killed before the first event, and the clock is set meanwhile",
    () =>
      withJumpingClock(({ set }) =>
        Effect.gen(function* () {
          const server = yield* startNatsServer()
          const one = yield* startInstance({ servers: server.url })
          const { fiber, seen } = yield* collect(one.events)
          yield* server.signal("SIGKILL")
          // Long enough for several tries of the feed, before and after.
          yield* Effect.sleep("1 second")
          yield* set(3_600_000)
          yield* Effect.sleep("1 second")
          yield* server.start
          yield* insist(one.events.publish("first", 1))
          yield* Effect.raceFirst(
            until(() => seen.length > 0),
            Fiber.join(fiber)
          )
          expect(seen).toEqual([{ name: "first", payload: 1, sequence: 1 }])
        })
      )
  )

  it.scopedLive("fail a feed when the server comes back without its store, and open the next", () =>
    Effect.gen(function* () {
      const server = yield* startNatsServer()
      const one = yield* startInstance({ servers: server.url })
      const other = yield* startInstance({ servers: server.url })
      const emptied = yield* countEmptied(other.events)
      yield* one.commands.register(greet)
      const { fiber } = yield* collect(one.events)
      yield* one.events.publish("before", 1)
      yield* server.signal("SIGKILL")
      yield* server.emptyStore
      yield* server.start
      const exit = yield* Effect.flatten(Fiber.join(fiber)).pipe(Effect.flip)
      expect(exit).toMatchObject({ _tag: "vitrine/EventBusError", action: "receive" })
      expect(exit.message).toContain("the server has lost events, and numbers them from the start")
      const { seen } = yield* Effect.scoped(insist(collect(one.events))).pipe(
        Effect.zipRight(collect(one.events))
      )
      expect(yield* one.backlog.snapshot).toEqual([])
      yield* insist(other.events.publish("after", 2))
      yield* until(() => seen.length === 1)
      expect(seen[0]).toMatchObject({ name: "after", payload: 2 })
      expect(yield* insist(other.commands.dispatch({ type: "greet", name: "Ada" }))).toBe("Hello Ada")
      yield* until(() => emptied() > 0)
      expect(emptied()).toBe(1)
    })
  )

  it.scopedLive("fail a feed when the events that follow are those of another store", () =>
    Effect.gen(function* () {
      const server = yield* startNatsServer()
      const one = yield* startInstance({ servers: server.url })
      const { fiber, seen } = yield* collect(one.events)
      yield* one.events.publish("before", 1)
      yield* server.signal("SIGKILL")
      yield* server.emptyStore
      yield* server.start
      // Before the feed is connected again, as a rule.
      const other = yield* startInstance({ servers: server.url })
      yield* Effect.repeatN(other.events.publish("after", 2), 4)
      const error = yield* Effect.flatten(Fiber.join(fiber)).pipe(Effect.flip)
      expect(error.message).toContain("the server has lost events, and numbers them from the start")
      expect(seen.map(({ name }) => name)).toEqual(["before"])
    })
  )

  it.scopedLive("fail a feed whose stream is deleted", () =>
    Effect.gen(function* () {
      const server = yield* startNatsServer()
      const { url } = server
      const one = yield* startInstance({ servers: url })
      const emptied = yield* countEmptied(one.events)
      const { fiber } = yield* collect(one.events)
      yield* one.events.publish("before", 1)
      yield* administer(url, ({ streams }) => streams.delete("vitrine_events"))
      yield* one.events.publish("after", 2)
      const error = yield* Effect.flatten(Fiber.join(fiber)).pipe(Effect.flip)
      expect(error.message).toContain("the server has lost events, and numbers them from the start")
      expect(yield* one.backlog.snapshot).toEqual([{ name: "after", data: "2", sequence: 1 }])
      expect(emptied()).toBe(1)
    })
  )

  it.scopedLive("say that they were emptied if a new feed makes the deleted stream again", () =>
    Effect.gen(function* () {
      const server = yield* startNatsServer()
      const { url } = server
      const one = yield* startInstance({ servers: url })
      const emptied = yield* countEmptied(one.events)
      yield* one.events.publish("before", 1)
      yield* administer(url, ({ streams }) => streams.delete("vitrine_events"))
      yield* collect(one.events)
      yield* until(() => emptied() > 0)
      expect(emptied()).toBe(1)
    })
  )

  it.scopedLive("offer commands to other processes again after the stream of the state was deleted", () =>
    Effect.gen(function* () {
      const { url } = yield* startNatsServer()
      const one = yield* startInstance({ servers: url })
      const other = yield* startInstance({ servers: url })
      const greetElsewhere = other.commands.dispatch({ type: "greet", name: "Ada" })
      yield* one.commands.register(greet)
      yield* one.commands.register({ ...greet, type: "greet again" })
      expect(yield* greetElsewhere).toBe("Hello Ada")
      yield* administer(url, ({ streams }) => streams.delete("vitrine_state"))
      expect(yield* Effect.flip(greetElsewhere)).toMatchObject({ _tag: "vitrine/UnknownCommand" })
      expect(yield* insist(greetElsewhere)).toBe("Hello Ada")
      yield* until(() => one.log.length === 2)
      expect(one.log[1]).toBe(
        "WARN The NATS server had lost which process has these commands; they are registered again: greet, greet again"
      )
      expect(other.log).toHaveLength(1)
    })
  )

  it.scopedLive("show in the status which commands other processes do not know, and why, until they do", () =>
    Effect.gen(function* () {
      const { url } = yield* startNatsServer()
      const one = yield* startInstance({ servers: url })
      const other = yield* startInstance({ servers: url })
      yield* one.commands.register(greet)
      yield* administer(url, async ({ streams }) => {
        await streams.delete("vitrine_state")
        await streams.add({ name: "in_the_way", subjects: ["vitrine.lease.*"] })
      })
      yield* Effect.repeat(one.slice, { until: hasUnknown, schedule: Schedule.spaced("50 millis") })
      expect(yield* one.slice).toMatchObject({
        unknownElsewhere: { commands: ["greet"], reason: expect.stringContaining("subjects overlap") }
      })
      const { view } = yield* one.snapshot
      expect(view.problems).toMatchObject([
        {
          code: "nats:commands",
          text: expect.stringMatching(/^Other processes do not know the commands greet: subjects overlap/)
        }
      ])
      yield* administer(url, ({ streams }) => streams.delete("in_the_way"))
      expect(yield* insist(other.commands.dispatch({ type: "greet", name: "Ada" }))).toBe("Hello Ada")
      yield* Effect.repeat(one.slice, {
        until: (slice) => !hasUnknown(slice),
        schedule: Schedule.spaced("50 millis")
      })
      expect(yield* one.slice).not.toMatchObject({ unknownElsewhere: expect.anything() })
      expect(one.log.slice(1)).toEqual([
        expect.stringMatching(
          /^WARN Other processes do not know the commands greet: subjects overlap.*\. Trying again until they do\.$/
        ),
        expect.stringMatching(/^INFO Other processes know all commands of this one again$/)
      ])
    })
  )

  it.scopedLive("claim a command where a foreign message is stored in its place", () =>
    Effect.gen(function* () {
      const { url } = yield* startNatsServer()
      const one = yield* startInstance({ servers: url })
      const other = yield* startInstance({ servers: url })
      const greetElsewhere = other.commands.dispatch({ type: "greet", name: "Ada" })
      const garble = administer(url, ({ jetStream }) => jetStream.publish("vitrine.lease.greet", "no lease"))
      yield* Effect.scoped(one.commands.register(greet))
      yield* garble
      yield* one.commands.register(greet)
      expect(yield* greetElsewhere).toBe("Hello Ada")
      yield* garble
      expect(yield* insist(greetElsewhere)).toBe("Hello Ada")
    })
  )

  it.scopedLive("lose no event when the server is suspended for a while", () =>
    Effect.gen(function* () {
      const server = yield* startNatsServer()
      const one = yield* startInstance({ servers: server.url })
      const { last, seen } = yield* collect(one.events)
      const { accepted, end, more } = yield* publishNumbers(one.events)
      yield* more(100)
      yield* server.signal("SIGSTOP")
      yield* Effect.sleep("7 seconds")
      yield* server.signal("SIGCONT")
      yield* more(100)
      yield* end
      yield* last
      expectExact(seen, accepted)
    })
  )
})

// One after the other: here it is measured how long something takes.
describe.skipIf(isMissing("nats-server"))("the services on NATS", () => {
  it.scopedLive("fail in bounded time while the server is suspended, and recover", () =>
    Effect.gen(function* () {
      const server = yield* startNatsServer()
      const one = yield* startInstance({ servers: server.url })
      const { fiber } = yield* collect(one.events)
      yield* server.signal("SIGSTOP")
      const many = yield* Effect.fork(
        Effect.all(
          Array.from({ length: 1024 }, () => Effect.exit(one.events.publish("many", 1))),
          { concurrency: "unbounded" }
        )
      )
      yield* Effect.sleep("500 millis")
      const [refusing, refused] = yield* Effect.timed(Effect.flip(one.events.publish("event", 1)))
      expect(Duration.toMillis(refusing)).toBeLessThan(1000)
      expect(refused.message).toContain("too many events wait for the server already")
      yield* Fiber.join(many)
      const [publishing, published] = yield* Effect.timed(Effect.flip(one.events.publish("event", 1)))
      expect(Duration.toMillis(publishing)).toBeLessThan(6000)
      expect(published.message).toContain(
        "the server did not respond in time; the event may have been published"
      )
      const [reading, read] = yield* Effect.timed(Effect.flip(one.backlog.snapshot))
      expect(Duration.toMillis(reading)).toBeLessThan(6000)
      expect(read.message).toContain("The replay backlog could not be read: ")
      const [waiting, failed] = yield* Effect.timed(Effect.flip(Effect.flatten(Fiber.join(fiber))))
      expect(Duration.toMillis(waiting)).toBeLessThan(40_000)
      expect(failed).toMatchObject({ _tag: "vitrine/EventBusError", action: "receive" })
      yield* server.signal("SIGCONT")
      const { seen } = yield* Effect.scoped(insist(collect(one.events))).pipe(
        Effect.zipRight(collect(one.events))
      )
      yield* one.events.publish("event", 2)
      yield* until(() => seen.length > 0)
    })
  )

  it.scopedLive(
    "register in bounded time while the server is suspended, and do not report the command as unknown",
    () =>
      Effect.gen(function* () {
        const server = yield* startNatsServer()
        const one = yield* startInstance({ servers: server.url })
        yield* server.signal("SIGSTOP")
        const registering = yield* Effect.fork(Effect.timed(one.commands.register(greet)))
        yield* Effect.sleep("1 second")
        expect(yield* Effect.flip(one.commands.dispatch({ type: "greet", name: "Ada" }))).toEqual(
          new CommandUnavailable({ type: "greet", reason: "unreachable", mayHaveRun: false })
        )
        const [took] = yield* Fiber.join(registering)
        expect(Duration.toMillis(took)).toBeLessThan(6000)
        expect(yield* one.commands.dispatch({ type: "greet", name: "Ada" })).toBe("Hello Ada")
        yield* server.signal("SIGCONT")
      })
  )

  it.scopedLive("end in bounded time while the server is suspended", () =>
    Effect.gen(function* () {
      const server = yield* startNatsServer()
      const scope = yield* Scope.make()
      const { commands } = yield* Scope.extend(startInstance({ servers: server.url }), scope)
      yield* Scope.extend(commands.register(greet), scope)
      yield* server.signal("SIGSTOP")
      const [took] = yield* Effect.timed(Scope.close(scope, Exit.void))
      yield* server.signal("SIGCONT")
      expect(Duration.toMillis(took)).toBeLessThan(4000)
    })
  )

  it.scopedLive("report a process with too many commands as busy", () =>
    Effect.gen(function* () {
      const { url } = yield* startNatsServer()
      const owner = yield* startInstance({ servers: url })
      const [one, other] = [yield* startInstance({ servers: url }), yield* startInstance({ servers: url })]
      let running = 0
      const countWhileItRuns = Effect.acquireRelease(
        Effect.sync(() => running++),
        () => Effect.sync(() => running--)
      )
      yield* owner.commands.register({
        type: "hang",
        fields: Schema.Struct({}),
        run: () => Effect.scoped(Effect.zipRight(countWhileItRuns, Effect.never))
      })
      const hang = ({ commands }: typeof one, times: number) =>
        Effect.forkScoped(
          Effect.all(
            Array.from({ length: times }, () => commands.dispatch({ type: "hang" })),
            { concurrency: "unbounded" }
          )
        )
      const busy = new CommandUnavailable({ type: "hang", reason: "busy", mayHaveRun: false })
      const first = yield* hang(one, 200)
      yield* hang(other, 56)
      yield* until(() => running === 256)
      expect(yield* Effect.flip(other.commands.dispatch({ type: "hang" }))).toEqual(busy)
      yield* Fiber.interrupt(first)
      yield* until(() => running === 56)
      yield* hang(other, 200)
      yield* until(() => running === 256)
      expect(yield* other.status).toContain("256 commands of other processes")
      // Here it is the one that dispatches which has too many.
      expect(yield* Effect.flip(other.commands.dispatch({ type: "hang" }))).toEqual(busy)
    })
  )

  it.scopedLive("start without the server, and work when it is there", () =>
    Effect.gen(function* () {
      const server = yield* startNatsServer()
      yield* server.signal("SIGKILL")
      const one = yield* startInstance({ servers: server.url })
      const other = yield* startInstance({ servers: server.url })
      expect(one.log).toEqual([
        expect.stringMatching(/^WARN NATS at nats:.* cannot be used: connection refused\./)
      ])
      yield* one.commands.register(greet)
      expect(yield* one.commands.dispatch({ type: "greet", name: "Ada" })).toBe("Hello Ada")
      expect(yield* one.commands.types).toEqual(["greet"])
      expect(yield* Effect.flip(other.commands.dispatch({ type: "greet", name: "Ada" }))).toMatchObject({
        _tag: "vitrine/CommandUnavailable",
        reason: "unreachable",
        mayHaveRun: false
      })
      const actions: ReadonlyArray<Effect.Effect<unknown, Error>> = [
        one.events.publish("event", 1),
        Effect.scoped(one.events.subscribe),
        one.backlog.snapshot
      ]
      for (const action of actions) {
        const [took, error] = yield* Effect.timed(Effect.flip(action))
        expect(Duration.toMillis(took)).toBeLessThan(1000)
        expect(error.message).toContain("there is no connection to NATS")
      }
      yield* server.start
      expect(yield* insist(other.commands.dispatch({ type: "greet", name: "Ada" }))).toBe("Hello Ada")
      yield* insist(one.events.publish("event", 1))
      expect(yield* other.backlog.snapshot).toMatchObject([{ name: "event", data: "1" }])
    })
  )

  it.scopedLive("pass the commands of a killed process to the next that registers them", () =>
    Effect.gen(function* () {
      const { url } = yield* startNatsServer()
      const one = yield* startInstance({ servers: url })
      const first = yield* startNatsEdge(url, "command")
      yield* first.says(/^registered$/m)
      const firstPid = yield* one.commands.dispatch({ type: "greet" })
      expect(yield* Effect.flip(Effect.scoped(one.commands.register(greet)))).toMatchObject({
        _tag: "vitrine/CommandAlreadyRegistered"
      })
      yield* first.kill
      yield* Effect.repeat(one.commands.types, { until: (types) => types.length === 0 })
      expect(yield* Effect.flip(one.commands.dispatch({ type: "greet" }))).toEqual(
        new CommandUnavailable({ type: "greet", reason: "unreachable", mayHaveRun: false })
      )
      const second = yield* startNatsEdge(url, "command")
      yield* second.says(/^registered$/m)
      const secondPid = yield* one.commands.dispatch({ type: "greet" })
      expect(firstPid).toBeTypeOf("number")
      expect(secondPid).toBeTypeOf("number")
      expect(secondPid).not.toBe(firstPid)
    })
  )

  it.scopedLive("fail to publish when the server's store is full, and keep the stored events", () =>
    Effect.gen(function* () {
      const { url } = yield* startNatsServer({ jetStream: "max_file: 1MB" })
      const one = yield* startInstance({ servers: url })
      const { fiber, seen } = yield* collect(one.events)
      let published = 0
      const error = yield* Effect.flip(
        Effect.forever(
          Effect.zipRight(
            one.events.publish(`name ${published}`, "x".repeat(100_000)),
            Effect.sync(() => published++)
          )
        )
      )
      expect(error.message).toBe("The event bus could not publish an event: insufficient resources")
      expect(published).toBeGreaterThan(5)
      yield* until(() => seen.length === published)
      expect(yield* Fiber.poll(fiber)).toMatchObject({ _tag: "None" })
      expect(yield* one.backlog.snapshot).toMatchObject([{ name: "name 0", sequence: published }])
    })
  )

  it.scopedLive.skipIf(!mayMount)(
    "lose no event when the disk of the server was full and it is restarted with room",
    () =>
      Effect.gen(function* () {
        const disk = yield* smallDisk
        const server = yield* startNatsServer({ store: disk.folder, jetStream: "max_file: 1GB" })
        const one = yield* startInstance({ servers: server.url })
        const { last, seen } = yield* collect(one.events)
        const { accepted, end, more } = yield* publishNumbers(one.events)
        yield* more(50)
        yield* disk.fill(1)
        yield* Effect.repeat(one.status, {
          until: (status) => status.includes("Not published"),
          schedule: Schedule.spaced("100 millis")
        })
        yield* disk.free
        // The server has come to a standstill, and nothing but this ends it.
        yield* server.signal("SIGKILL")
        yield* server.start
        yield* more(50)
        yield* end
        yield* last
        expectExact(seen, accepted)
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("refuse what the server would reject, without other effects", () =>
    Effect.gen(function* () {
      const { url } = yield* startNatsServer()
      const one = yield* startInstance({ servers: url })
      const other = yield* startInstance({ servers: url })
      yield* one.commands.register({
        type: "repeat",
        fields: Schema.Struct({ text: Schema.String, times: Schema.Number }),
        run: ({ text, times }) => Effect.succeed(text.repeat(times))
      })
      const large = "x".repeat(1024 * 1024)
      const { seen } = yield* collect(other.events)
      const tooLarge = yield* Effect.flip(one.events.publish("large", large))
      expect(tooLarge.message).toBe(
        'The event bus could not publish an event: the payload of "large" has 1048578 bytes, and the server accepts 1048512'
      )
      const tooLong = yield* Effect.flip(one.events.publish("n".repeat(2000), 1))
      expect(tooLong.message).toContain("is too long for a subject")
      const fields = yield* Effect.flip(other.commands.dispatch({ type: "repeat", text: large, times: 1 }))
      expect(fields).toMatchObject({ _tag: "vitrine/InvalidCommandFields" })
      const result = yield* Effect.flip(
        other.commands.dispatch({ type: "repeat", text: "x", times: 2 ** 21 })
      )
      expect(result.message).toBe(
        'The command "repeat" failed: the result has 2097164 bytes, and NATS accepts 1048576'
      )
      yield* one.events.publish("small", 1)
      yield* until(() => seen.length > 0)
      expect(seen).toMatchObject([{ name: "small", payload: 1, sequence: 1 }])
    })
  )
})
