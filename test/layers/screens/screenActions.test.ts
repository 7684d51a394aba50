import { writeFile } from "node:fs/promises"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/TestClock"
import * as Content from "../../../src/layers/fetching/Content.ts"
import { makeScreenActions } from "../../../src/layers/screens/screenActions.ts"
import { AckAnswer } from "../../../src/services/AskedScreen.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { fetch, follow, services } from "../../support/content.ts"
import { player, serverSlice } from "../../support/fleet.ts"
import { withLog } from "../../support/logged.ts"
import { pluginsOf } from "../../support/plugins.ts"

const identity = { node: { id: "hall" }, screens: [{ id: "left", label: "Left wall" }, { id: "right" }] }
const versionId = "19700101T000000Z"

const source: ContentSource = {
  id: "objects",
  fetch: ({ directory }) =>
    Effect.as(
      Effect.promise(() => writeFile(`${directory}/text.txt`, "one")),
      { fingerprint: "one", records: 1, bytes: 3 }
    )
}

const dispatch = (type: string, fields: object) =>
  Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ ...fields, type: `content.${type}` }))

const ack = (consumerId: string, details: object = {}) =>
  dispatch("ack", { consumerId, versionId, ...details })

/** The ack of a page, with the ids of the actions that it has carried out. */
const ackOfPage = (screen: string, done: ReadonlyArray<string> = [], details: object = {}) =>
  ack(screen, { runId: `run-of-${screen}`, done, ...details })

/** The ids of the actions in the response to an ack that confirms nothing. */
const idsFor = (screen: string) =>
  Effect.map(Effect.flatMap(ackOfPage(screen), Schema.decodeUnknown(AckAnswer)), ({ ids }) => ids)

const id = expect.stringMatching(/^[\da-f-]{36}$/)

const ask = (screen: string, action: string, by?: string) =>
  dispatch("screen", { screen, action, ...(by === undefined ? {} : { by }) })

const messageOf = <E extends { readonly message: string }, R>(effect: Effect.Effect<unknown, E, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

/** A content with a version, in a controller that expects two screens. */
const withContent = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    yield* Content.fromSources({}, [source])
    yield* fetch
    return yield* test
  }).pipe(Effect.provide(services("persistent", identity)))

describe("an action that is requested of a screen", () => {
  it.scoped("is announced as carried out, even if the client of its ack leaves meanwhile", () =>
    withContent(
      Effect.gen(function* () {
        const events: Array<string> = []
        const { answer, ask } = yield* makeScreenActions("content", ({ name }) =>
          Effect.zipRight(
            Effect.repeatN(Effect.yieldNow(), 20),
            Effect.sync(() => events.push(name))
          )
        )
        yield* ask({ screen: "left", action: "reload" })
        const given = yield* answer("left", { runId: "run", done: [] })
        const confirming = yield* Effect.fork(answer("left", { runId: "run", done: given?.ids }))
        yield* Effect.repeatN(Effect.yieldNow(), 10)
        yield* Fiber.interrupt(confirming)
        expect(events).toEqual(["content:screen:asked", "content:screen:taken"])
      })
    )
  )

  it.scoped("is in the response to the next ack, with the names of the machine and the screen", () =>
    withContent(
      Effect.gen(function* () {
        expect(yield* ackOfPage("left")).toBeNull()
        yield* ask("left", "identify")
        yield* ask("left", "identify")
        yield* ask("left", "reload")
        expect(yield* ackOfPage("right")).toBeNull()
        expect(yield* ackOfPage("left", [], { closing: true })).toBeNull()
        expect(yield* ackOfPage("left")).toEqual({
          actions: ["identify", "reload"],
          ids: [id, id],
          label: "hall: Left wall"
        })
        yield* ask("right", "reload")
        expect(yield* ackOfPage("right")).toEqual({ actions: ["reload"], ids: [id], label: "hall: right" })
      })
    )
  )

  it.scoped("is given again until the screen confirms it, and only then counts as received", () =>
    withContent(
      Effect.gen(function* () {
        const { until } = yield* follow
        yield* ask("left", "reload")
        const [lost, given] = [yield* idsFor("left"), yield* idsFor("left")]
        expect(given).toEqual(lost)
        yield* ask("left", "identify")
        expect((yield* until("content:screen:asked")).map(({ name }) => name)).not.toContain(
          "content:screen:taken"
        )
        yield* ackOfPage("right", given)
        expect(yield* ackOfPage("left", given)).toMatchObject({ actions: ["identify"] })
        expect((yield* until("content:screen:taken")).at(-1)?.payload).toEqual({
          screen: "left",
          actions: ["reload"]
        })
      })
    )
  )

  it.scoped("is confirmed by a page that is left", () =>
    withContent(
      Effect.gen(function* () {
        yield* ask("left", "reload")
        expect(yield* ackOfPage("left", yield* idsFor("left"), { closing: true })).toBeNull()
        expect(yield* ackOfPage("left")).toBeNull()
      })
    )
  )

  it.scoped("is given three times to a screen that does not confirm it, and once to an older page", () =>
    withContent(
      Effect.gen(function* () {
        const given = Effect.fnUntraced(function* (details: object) {
          yield* ask("left", "reload")
          return (yield* Effect.replicateEffect(ack("left", details), 5)).filter((answer) => answer !== null)
        })
        expect(yield* given({ runId: "run-1" })).toHaveLength(1)
        expect(yield* given({})).toHaveLength(3)
        expect(yield* given({ runId: "run-2", done: [] })).toHaveLength(3)
      })
    )
  )

  it.scoped("is announced by an event after it is ready, so that the screen renews its ack", () =>
    withContent(
      Effect.gen(function* () {
        const { until } = yield* follow
        yield* ask("left", "identify", "Anna\nat the dashboard")
        expect((yield* until("content:screen:asked")).at(-1)?.payload).toEqual({
          screen: "left",
          action: "identify",
          by: "Anna at the dashboard"
        })
      })
    )
  )

  it.scoped("expires after two minutes, whatever the system clock does", () =>
    withContent(
      Effect.gen(function* () {
        yield* ask("left", "reload")
        yield* TestClock.adjust("119 seconds")
        yield* ask("right", "reload")
        yield* TestClock.adjust("1 second")
        expect(yield* ack("left")).toBeNull()
        expect(yield* ack("right")).toEqual({ actions: ["reload"], ids: [id], label: "hall: right" })
      })
    )
  )

  it.scoped("cannot be requested by a screen", () =>
    withContent(
      Effect.gen(function* () {
        const wishes = {
          actions: ["reload"],
          action: "reload",
          screen: "right",
          result: { actions: ["reload"] }
        }
        expect(yield* ack("left", wishes)).toBeNull()
        expect(yield* ack("right")).toBeNull()
        expect(yield* ack("left")).toBeNull()
      })
    )
  )

  it.scoped("is logged with who requested it, and when it was delivered", () => {
    const log: Array<string> = []
    return withContent(
      Effect.zipRight(ask("left", "reload", "Anna"), ack("left", { runId: "run-1" })).pipe(
        withLog(log),
        Effect.map(() =>
          expect(log).toEqual([
            "INFO Screen left is asked to reload by Anna",
            "INFO Screen left loads its page again now"
          ])
        )
      )
    )
  })
})

describe("an action that is requested", () => {
  it.scoped("of an unknown screen fails, and names the known ones", () =>
    withContent(
      Effect.gen(function* () {
        yield* ack("foyer")
        expect(yield* messageOf(ask("lefft", "reload"))).toContain(
          'There is no screen "lefft". Known screens: foyer, left, right.'
        )
        yield* TestClock.adjust("1 hour")
        expect(yield* messageOf(ask("foyer", "reload"))).toContain("Known screens: left, right.")
      })
    )
  )

  it.scoped("fails if it is neither a reload nor an identification", () =>
    withContent(
      Effect.gen(function* () {
        for (const action of ["open", "", "https://evil.example"]) {
          expect(yield* messageOf(ask("left", action))).toContain("was given wrong fields: action")
        }
        expect(yield* ack("left")).toBeNull()
      })
    )
  )

  it.scoped(
    "of a player's screen is announced to the hub's content server, and delivered to no page of the hub",
    () =>
      withContent(
        Effect.gen(function* () {
          const { updateSlice } = pluginsOf(yield* ControllerState)
          const { until } = yield* follow
          yield* updateSlice("content-server", () => serverSlice({ players: [player()] }))
          yield* ask("hall-3/left", "identify")
          expect((yield* until("content:screen:asked")).at(-1)?.payload).toEqual({
            screen: "hall-3/left",
            action: "identify"
          })
          expect(yield* ack("left")).toBeNull()
          expect(yield* messageOf(ask("hall-3/right", "identify"))).toContain("left, right, hall-3/left.")
        })
      )
  )
})
