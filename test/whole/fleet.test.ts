/**
 * A hub that knows its players, and players that report to it, each in its own process.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { freePort } from "../support/freePort.ts"
import { hasProblem, type Machine, makeHub, makePlayer, playerIs, sees } from "../support/machines.ts"

/** What a busy machine may take to start a program, and to copy a version. */
const soon = 60

/** A hub on this machine that expects these players. */
const startHub = Effect.fnUntraced(function* (...players: ReadonlyArray<string>) {
  const port = String(yield* freePort)
  const env = {
    TABLES_PORT: String(yield* freePort),
    CONTENT_PORT: port,
    HOST: "127.0.0.1",
    PLAYERS: players.join(" ")
  }
  const hub = yield* makeHub({ env })
  yield* hub.start
  return { hub, place: { env: { HUB: `http://127.0.0.1:${port}` } } }
})

const versionOf = ({ view }: Machine) =>
  Effect.map(view, (view) => Option.getOrUndefined(view)?.content.versionId)

const environment = Effect.provide(NodeContext.layer)

describe.concurrent("a fleet", () => {
  it.scopedLive("a hub shows the version of a player, that it was killed, and that it is back", () =>
    Effect.gen(function* () {
      const { hub, place } = yield* startHub("hall-1")
      const player = yield* makePlayer("hall-1", place)
      yield* player.start
      yield* sees(hub, "the player is up to date", soon, playerIs("hall-1", "up to date"))
      const before = yield* versionOf(hub)
      yield* hub.write("Barometer")
      yield* sees(
        hub,
        "the player has the next version",
        soon,
        ({ content: { versionId }, players }) =>
          versionId !== before && players.some(({ lastReport }) => lastReport?.versionId === versionId)
      )
      yield* player.kill
      yield* sees(hub, "the player is silent", soon, playerIs("hall-1", "silent"))
      yield* sees(hub, "that is a problem", soon, hasProblem("player:silent", "hall-1"))
      yield* player.start
      yield* sees(hub, "the player is back", soon, playerIs("hall-1", "up to date"))
      yield* sees(hub, "nothing is wrong", soon, ({ problems }) => problems.length === 0)
    }).pipe(environment)
  )

  it.scopedLive(
    "a player continues without its hub, reports it, and is known to the hub after that restarts",
    () =>
      Effect.gen(function* () {
        const { hub, place } = yield* startHub("hall-1")
        const player = yield* makePlayer("hall-1", place)
        yield* player.start
        yield* sees(hub, "the player is up to date", soon, playerIs("hall-1", "up to date"))
        const version = yield* versionOf(player)
        yield* hub.stop
        yield* sees(
          player,
          "the hub takes no reports",
          15,
          ({ content: { reports } }) => reports?.problem !== undefined
        )
        yield* sees(player, "the hub is away", soon, hasProblem("content:failing"))
        expect(yield* versionOf(player)).toBe(version)
        yield* hub.start
        const view = yield* hub.view
        expect(Option.getOrUndefined(view)?.players.map(({ id }) => id)).toEqual(["hall-1"])
        yield* sees(
          player,
          "the hub takes reports again",
          25,
          ({ content: { reports }, problems }) =>
            reports?.problem === undefined && problems.every(({ code }) => code !== "content:failing")
        )
        yield* sees(hub, "the player is up to date again", soon, playerIs("hall-1", "up to date"))
      }).pipe(environment)
  )

  it.scopedLive("two machines with the same player id are a problem until one of them ends", () =>
    Effect.gen(function* () {
      const { hub, place } = yield* startHub()
      const one = yield* makePlayer("twin", place)
      const other = yield* makePlayer("twin", place)
      yield* Effect.all([one.start, other.start], { concurrency: 2 })
      yield* sees(hub, "there are two", soon, hasProblem("player:duplicate", "twin"))
      yield* other.stop
      yield* sees(hub, "there is one", 75, (view) => !hasProblem("player:duplicate")(view))
      yield* sees(hub, "that is up to date", soon, playerIs("twin", "up to date"))
    }).pipe(environment)
  )
})
