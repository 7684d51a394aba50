/**
 * What is not known in a venue is never told as nothing: a disk that hangs or is slow, an evening, a player that is forgotten, a receiver
 * that is away or refuses. Controllers in processes of their own, whose disks and clocks the test sets (`test/support/machine.mjs`).
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { Problem } from "../../src/services/Problem.ts"
import { token } from "../support/fleet.ts"
import { freePort } from "../support/freePort.ts"
import { hasProblem, makeMachine, screenIs, sees, type View } from "../support/machines.ts"

const preloaded = fileURLToPath(new URL("../support/machine.mjs", import.meta.url))

/** In seconds: what a controller takes on a machine that is busy with all others. */
const soon = 120

const config = `import { content, contentServer, defineConfig, folderSource, httpTransport, replica } from "vitrine"
const { HOUSE = "{}", HUB, HUB_PORT } = process.env
export default defineConfig({
  ...JSON.parse(HOUSE),
  plugins: [
    HUB === undefined
      ? content({ fetchEvery: "1 minute", sources: [folderSource({ id: "exhibits", directory: "exhibits" })] })
      : replica({ from: HUB, pollEvery: "1 second", report: { to: HUB, token: "${token}" } }),
    httpTransport({ port: 0 }),
    ...(HUB_PORT === undefined ? [] : [contentServer({ port: Number(HUB_PORT), reports: { token: "${token}" } })])
  ]
})
`

/** A controller whose disk and clocks can be set. It has begun at `startsAt`, by its own clock. */
const openHouse = Effect.fnUntraced(function* (
  house: object,
  {
    env = {},
    startsAt = new Date().toISOString()
  }: { readonly env?: Readonly<Record<string, string>>; readonly startsAt?: string } = {}
) {
  const fs = yield* FileSystem.FileSystem
  const control = `${yield* fs.makeTempDirectoryScoped()}/machine.json`
  let machine = { slowMs: 0, aheadMs: Math.max(0, Date.parse(startsAt) - Date.now()) }
  const set = (change: Partial<typeof machine>) =>
    Effect.suspend(() => {
      machine = { ...machine, ...change }
      return fs.writeFileString(control, JSON.stringify(machine))
    })
  yield* set({})
  const made = yield* makeMachine("house", config, "", {
    env: { HOUSE: JSON.stringify(house), NODE_OPTIONS: `--import ${preloaded}`, MACHINE: control, ...env }
  })
  const view = Effect.flatMap(
    made.view,
    Option.match({ onNone: () => Effect.dieMessage("no view"), onSome: Effect.succeed })
  )
  yield* fs.makeDirectory(`${made.folder}/exhibits`)
  yield* fs.writeFileString(`${made.folder}/exhibits/Objects.csv`, "id,title\n1,Bell\n")
  yield* made.start
  yield* sees(made, "it has a version", soon, ({ content }) => content.versionId !== undefined)
  return {
    ...made,
    set,
    /** Its clocks go ahead by so many minutes. */
    passes: (minutes: number) => Effect.suspend(() => set({ aheadMs: machine.aheadMs + minutes * 60_000 })),
    content: Effect.map(view, ({ content }) => content),
    screens: Effect.map(view, ({ screens }) => screens),
    acks: (consumerId: string, renewMs = 3_600_000) =>
      Effect.flatMap(view, ({ content: { versionId } }) =>
        made.dispatch({ type: "content.ack", consumerId, renewMs, versionId })
      )
  }
})

interface Told extends Problem {
  readonly change: string
}

/** A receiver of alerts, which can be away or refuse posts. */
const openReceiver = Effect.gen(function* () {
  const told: Array<Told> = []
  let isAccepted = (_text: string) => true
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (text) => {
      body += text
    })
    request.on("end", () => {
      const posted: { text: string; problem?: Told; problems?: ReadonlyArray<Told> } = JSON.parse(body)
      const accepts = isAccepted(posted.text)
      if (accepts)
        told.push(...(posted.problem === undefined ? [] : [posted.problem]), ...(posted.problems ?? []))
      response.writeHead(accepts ? 200 : 500).end()
    })
  })
  const opens = (port: number) =>
    Effect.async<void>((resume) => {
      server.listen(port, "127.0.0.1", () => resume(Effect.void))
    })
  const closes = Effect.sync(() => {
    server.close()
    server.closeAllConnections()
  })
  yield* Effect.acquireRelease(opens(0), () => closes)
  const { port }: AddressInfo = Object(server.address())
  const lines = (code: string) =>
    told.filter((problem) => problem.code === code).map(({ change, subject }) => `${change} ${subject}`)
  return {
    told,
    lines,
    alerts: { url: `http://127.0.0.1:${port}/`, after: "1 second" },
    closes,
    opens: opens(port),
    accepts: (accepts: typeof isAccepted) => {
      isAccepted = accepts
    },
    /** Waits until it was told this of a problem last. */
    hears: (code: string, line: string) =>
      Effect.suspend(() =>
        lines(code).at(-1) === line ? Effect.void : Effect.fail("not yet" as const)
      ).pipe(
        Effect.retry(Schedule.spaced("200 millis")),
        Effect.timeout(`${soon} seconds`),
        Effect.catchAll(() => Effect.dieMessage(`no alert says "${line}": ${JSON.stringify(told)}`))
      )
  }
})

const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

const hours = Object.fromEntries(
  ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map((day) => [day, "10:00-18:00"])
)

const timeout = 900_000

const scenario = (
  title: string,
  test: () => Effect.Effect<void, unknown, FileSystem.FileSystem | Path.Path | Scope.Scope>
) => it.scopedLive(title, () => Effect.provide(test(), NodeContext.layer), timeout)

describe.concurrent("a house says", () => {
  scenario("that its disk hangs, with the version that it knew, and that it works again", () =>
    Effect.gen(function* () {
      const { alerts, hears } = yield* openReceiver
      const house = yield* openHouse({ screens: [{ id: "left" }], alerts })
      yield* house.acks("left")
      yield* sees(house, "left shows a version", soon, screenIs("left", "showing"))
      const before = yield* house.content
      yield* house.set({ slowMs: 1e9 })
      yield* sees(house, "its disk cannot be read", soon, hasProblem("state:unread", "content"))
      yield* house.passes(2)
      const isError = ({ problems }: View) =>
        problems.some(({ code, severity }) => code === "state:unread" && severity === "error")
      yield* sees(house, "that is an error", soon, isError)
      expect((yield* house.content).versionId).toBe(before.versionId)
      yield* sees(house, "left shows it still", soon, screenIs("left", "showing"))
      yield* hears("state:unread", "begin content")
      yield* house.set({ slowMs: 0 })
      yield* hears("state:unread", "over content")
    })
  )

  scenario("nothing of a disk that is slow: a page that is live stays live", () =>
    Effect.gen(function* () {
      const { alerts, told } = yield* openReceiver
      const house = yield* openHouse({ screens: [{ id: "left" }], alerts })
      yield* house.acks("left", 20_000)
      yield* sees(house, "left shows a version", soon, screenIs("left", "showing"))
      yield* house.set({ slowMs: 700 })
      const words = yield* Effect.replicateEffect(
        Effect.gen(function* () {
          yield* house.acks("left", 20_000)
          return (yield* house.screens).map(({ problems, word }) => [
            word,
            ...problems.map(({ code }) => code)
          ])
        }),
        12
      )
      expect(new Set(words.map((word) => JSON.stringify(word)))).toEqual(new Set(['[["showing"]]']))
      expect(told.filter(({ code }) => code !== "content:none")).toEqual([])
    })
  )

  scenario(
    "in the evening that nobody watches a dark screen, and in the morning that it is there again, although it was restarted",
    () =>
      Effect.gen(function* () {
        const { alerts, hears, lines, told } = yield* openReceiver
        const house = yield* openHouse(
          { screens: [{ id: "left" }], hours: { zone: "UTC", ...hours }, alerts },
          { startsAt: `${day(1)}T17:30:00Z` }
        )
        yield* house.acks("left", 1000)
        yield* hears("screen:silent", "begin left")
        yield* house.passes(41)
        yield* hears("screen:silent", "unwatched left")
        // Its lease has ended before the restart.
        yield* house.dispatch({ type: "content.fetch" })
        yield* house.kill
        yield* house.start
        yield* sees(house, "it has a version", soon, ({ content }) => content.versionId !== undefined)
        yield* house.passes(16 * 60 - 20)
        yield* hears("screen:silent", "again left")
        expect(lines("screen:never-seen")).toEqual([])
        yield* house.acks("left")
        yield* hears("screen:silent", "over left")
        expect(lines("screen:silent")).toHaveLength(4)
        const begun = told.flatMap(({ code, since = "" }) =>
          code === "screen:silent" ? [Date.parse(since)] : []
        )
        // After the restart, its last report is known by the time of a file.
        expect(Math.max(...begun) - Math.min(...begun)).toBeLessThan(1000)
      })
  )

  scenario("that a player is forgotten, and that its problem is there again when the player is back", () =>
    Effect.gen(function* () {
      const { alerts, hears, told } = yield* openReceiver
      const port = yield* freePort
      const hub = yield* openHouse({ node: { id: "hub" }, alerts }, { env: { HUB_PORT: `${port}` } })
      const player = yield* openHouse(
        { node: { id: "hall-3" }, screens: [{ id: "left" }] },
        { env: { HUB: `http://127.0.0.1:${port}` } }
      )
      const code = "screen:never-seen"
      yield* hears(code, "begin left")
      yield* player.kill
      yield* hub.passes(11)
      yield* hears(code, "unwatched left")
      expect(told.at(-1)).toMatchObject({ player: "hall-3", unwatched: "forgotten" })
      yield* player.passes(11)
      yield* player.start
      yield* hears(code, "again left")
      yield* player.acks("left")
      yield* hears(code, "over left")
    })
  )

  scenario("what is true when its receiver is back, and nothing of the night", () =>
    Effect.gen(function* () {
      const { alerts, closes, hears, lines, opens } = yield* openReceiver
      const house = yield* openHouse({ screens: [{ id: "left" }, { id: "right" }], alerts })
      yield* house.acks("left")
      yield* house.acks("right")
      yield* closes
      yield* house.acks("left", 1000)
      yield* sees(house, "left is silent", soon, hasProblem("screen:silent", "left"))
      yield* sees(house, "its receiver is away", soon, hasProblem("alerts:undelivered"))
      yield* house.passes(8 * 60)
      yield* sees(house, "right is silent", soon, hasProblem("screen:silent", "right"))
      yield* house.acks("left")
      yield* sees(house, "left shows a version", soon, screenIs("left", "showing"))
      yield* opens
      yield* hears("screen:silent", "begin right")
      expect(lines("screen:silent")).toEqual(["begin right"])
    })
  )

  scenario("of a screen with an emoji what its receiver refuses, and of the others what it accepts", () =>
    Effect.gen(function* () {
      const { accepts, alerts, hears, lines } = yield* openReceiver
      accepts((text) => !/[\u{10000}-\u{10ffff}]/u.test(text))
      const house = yield* openHouse({
        screens: [{ id: "dino", label: "Dinosaurs \u{1f996}" }, { id: "right" }],
        alerts
      })
      const code = "screen:never-seen"
      yield* hears(code, "begin right")
      yield* sees(house, "an alert is refused", soon, hasProblem("alerts:refused"))
      accepts(() => true)
      yield* house.passes(61)
      yield* hears(code, "begin dino")
      expect(lines(code)).toEqual(["begin right", "begin dino"])
    })
  )
})
