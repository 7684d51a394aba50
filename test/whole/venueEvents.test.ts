/**
 * A venue on networks of its own: a hub and five players, pages in Chromium on three of them. Whatever fails is said as what it is: at the
 * machine, at the hub, and in an alert, each within its time; and it is over by itself.
 *
 * Opening hours and the change to summer time are tested with a clock of their own, in `test/layers/status/openingHours.test.ts`, and the
 * end of a crash loop after ten minutes in `test/layers/fleet`.
 */
import { execFile, execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import type { Problem } from "../../src/services/Problem.ts"
import { type Alerted, openReceiver } from "../support/alertReceiver.ts"
import { report, token } from "../support/fleet.ts"
import { openKiosk } from "../support/kiosk.ts"
import {
  hasProblem,
  type Machine,
  makeHub,
  makePlayer,
  playerIs,
  reportedScreenIs,
  screenIs,
  sees,
  type View
} from "../support/machines.ts"
import { makeNetwork, mayIsolate } from "../support/namespaces.ts"
import { isMissing } from "../support/programs.ts"
import { mayMount, smallDisk } from "../support/tmpfs.ts"
import { runVitrine } from "../support/vitrineProcess.ts"

const halls = [1, 2, 3, 4, 5].map((number) => `hall-${number}`)
const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** In seconds: what has failed is seen so soon at its machine, at the hub, and of machines and pages that say nothing any more. */
const here = 10
const atHub = 20
const silentPlayer = 30
const silentPage = 45
/** A closed page may be back so soon, and a hidden one. */
const settling = 15
/** What several problems of one code are collected for, and the check that finds them. */
const alerting = 75
/** What ends a failure may take, with pauses between tries and on a busy machine. */
const healed = 90

const settingUp = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const { connect } = yield* makeNetwork
  const desk = yield* connect("desk")
  const receiver = yield* openReceiver(desk.by, desk.address)
  const place = yield* connect("hub")
  const hub = yield* makeHub({
    by: place.by,
    env: {
      HOST: "0.0.0.0",
      CONTENT_PORT: "8730",
      TABLES_PORT: "8740",
      PLAYERS: halls.join(" "),
      ALERTS: receiver.url
    }
  })
  yield* hub.start
  const disk = yield* smallDisk
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "vitrine-clock-" })
  const clock = `${folder}/clock`
  yield* fs.writeFileString(clock, "0")

  const startPlayer = Effect.fnUntraced(function* (
    id: string,
    env: Readonly<Record<string, string>>,
    name = id
  ) {
    const place = yield* connect(name)
    const common = { HUB: `http://${hubUrl}`, TRANSPORT_PORT: "8710", CONTENT_PORT: "8730" }
    const player = yield* makePlayer(id, { by: place.by, env: { ...common, ...env } })
    yield* player.start
    const turn = yield* Effect.makeSemaphore(1)
    return { ...player, ...place, id, inTurn: turn.withPermits(1) }
  })
  const hubUrl = `${place.address}:8730`
  const withPage = Effect.fnUntraced(function* (id: string, env: Readonly<Record<string, string>>) {
    const player = yield* startPlayer(id, { SCREENS: "wall", ...env })
    const kiosk = yield* openKiosk(player.by)
    const open = kiosk.open(pageUrl)
    const page = yield* Ref.make(yield* open)
    return {
      ...player,
      kiosk,
      page: Ref.get(page),
      reopen: Effect.flatMap(open, (next) => Ref.set(page, next))
    }
  })
  const players = yield* Effect.all(
    {
      left: withPage("hall-1", { SCREENS: "wall floor" }),
      middle: withPage("hall-2", { ALERTS: receiver.url }),
      right: withPage("hall-3", {}),
      killed: startPlayer("hall-4", {}),
      shifted: startPlayer("hall-5", {
        DOWNLOADS: `${disk.folder}/downloads`,
        CLOCK: clock,
        NODE_OPTIONS: `--import ${fileOf("../support/shiftedClock.mjs")}`
      })
    },
    { concurrency: 2 }
  )
  // An engine, which says in a file what it shows.
  const floor = yield* Ref.make(true)
  yield* Effect.whenEffect(
    Effect.flatMap(players.left.view, (view) => {
      const versionId = Option.getOrUndefined(view)?.content.versionId ?? ""
      const lease = JSON.stringify({ versionId, renewMs: 5000, visible: true, drawing: true })
      return fs.writeFileString(`${players.left.folder}/downloads/acks/floor.json`, lease)
    }),
    Ref.get(floor)
  ).pipe(Effect.ignore, Effect.repeat(Schedule.spaced("2 seconds")), Effect.forkScoped)

  yield* Effect.forEach(halls, (id) => sees(hub, `${id} is up to date`, healed, playerIs(id, "up to date")))
  yield* sees(hub, "nothing is wrong", healed, ({ problems }) => problems.length === 0)
  return {
    ...players,
    ...receiver,
    connect,
    disk,
    hub: { ...hub, ...place, host: hubUrl },
    floor,
    startPlayer,
    setClock: (millis: number) => Effect.orDie(fs.writeFileString(clock, String(millis)))
  }
})

class Venue extends Context.Tag("test/Venue")<Venue, Effect.Effect.Success<typeof settingUp>>() {
  static readonly layer = Layer.scoped(Venue, settingUp).pipe(Layer.provideMerge(NodeContext.layer))
}

const pageUrl = "http://127.0.0.1:8730/?screen=wall"

type Found = (problem: Problem) => boolean

/** A problem that a player has, as the hub knows it. */
const reportedBy =
  (player: string, code: string, subject?: string): Found =>
  (problem) =>
    problem.player === player &&
    problem.code === code &&
    (subject === undefined || problem.subject === subject)

const isOf =
  (subject: string, code: string): Found =>
  (problem) =>
    problem.player === undefined && problem.subject === subject && problem.code === code

interface Event {
  readonly begins: Effect.Effect<unknown, unknown, FileSystem.FileSystem>
  /** What the machine itself says of it, and within how many seconds. */
  readonly machine?: readonly [Machine, string, number, (view: View) => boolean]
  /** What the hub says of it. */
  readonly hub?: readonly [string, number, (view: View) => boolean]
  /** The problem that is posted, and by whom, the hub if nothing else is said; so long after the hub, or the machine, has it. */
  readonly alert: Found
  readonly from?: string
  readonly ends: Effect.Effect<unknown, unknown, FileSystem.FileSystem>
  /** Whose word is then "up to date". */
  readonly player?: string
}

/** One after the other: it begins, is said everywhere, ends, and is over everywhere. */
const happens = Effect.fnUntraced(function* (
  name: string,
  { alert, begins, ends, from = "hub", hub, machine, player }: Event
) {
  const venue = yield* Venue
  const hears = yield* venue.listen
  const is = (event: Alerted["event"]) => (alerted: Alerted) =>
    alerted.event === event && alerted.from === from && alert(alerted.problem)
  yield* begins
  const seen = Math.max(machine?.[2] ?? 0, hub?.[1] ?? 0)
  const [machineTook, hubTook, alertTook] = yield* Effect.all(
    [
      machine === undefined ? Effect.succeed("-") : sees(machine[0], machine[1], machine[2], machine[3]),
      hub === undefined ? Effect.succeed("-") : sees(venue.hub, hub[0], hub[1], hub[2]),
      hears(name, seen + alerting, is("begin"))
    ],
    { concurrency: 3 }
  )
  const hearsEnd = yield* venue.listen
  yield* ends
  const back =
    player === undefined
      ? sees(venue.hub, `${name}: that is over`, healed, ({ problems }) => !problems.some(alert))
      : sees(venue.hub, `${player} is up to date again`, healed, playerIs(player, "up to date"))
  const [overTook, endTook] = yield* Effect.all(
    [
      from === "hub" ? back : Effect.succeed("-"),
      hearsEnd(`${name}: that is over`, healed + alerting, is("end"))
    ],
    { concurrency: 2 }
  )
  yield* Effect.logInfo(
    `${name} | machine "${machine?.[1] ?? "-"}" ${machineTook} | hub "${hub?.[0] ?? "-"}" ${hubTook} | alert ${alertTook} | over ${overTook}, alert ${endTook}`
  )
})

const both =
  (...all: ReadonlyArray<(view: View) => boolean>) =>
  (view: View) =>
    all.every((holds) => holds(view))

const hasFound =
  (found: Found) =>
  ({ problems }: View): boolean =>
    problems.some(found)

/** A screen of a player has this word and is a problem: at the machine, at the hub and in an alert. */
const screenFails = (
  name: string,
  { id, ...player }: Machine & { readonly id: string },
  word: Parameters<typeof screenIs>[1],
  within: number,
  { begins, ends }: Pick<Event, "begins" | "ends">,
  screen = "wall"
) => {
  const code = `screen:${word}`
  return happens(name, {
    begins,
    ends,
    player: id,
    machine: [player, word, within, both(screenIs(screen, word), hasProblem(code, screen))],
    hub: [
      `problem, ${word}`,
      within + atHub,
      both(
        playerIs(id, "problem"),
        reportedScreenIs(id, screen, word),
        hasFound(reportedBy(id, code, screen))
      )
    ],
    alert: reportedBy(id, code, screen)
  })
}

/** Runs a command of the program in the folder of a machine. */
const vitrine = (
  { by, folder }: { readonly by: ReadonlyArray<string>; readonly folder: string },
  ...args: ReadonlyArray<string>
) =>
  Effect.scoped(Effect.flatMap(runVitrine(args, { by, cwd: folder }), ({ ended }) => ended)).pipe(
    Effect.tap(({ status, stderr }) => (status === 0 ? Effect.void : Effect.dieMessage(stderr)))
  )

const versionOf = ({ view }: Machine) =>
  Effect.map(view, (view) => Option.getOrUndefined(view)?.content.versionId)

/** A new version at the hub. */
const publish = Effect.fnUntraced(function* (title: string) {
  const { hub } = yield* Venue
  const before = yield* versionOf(hub)
  yield* hub.write(title)
  yield* sees(hub, "there is another version", healed, ({ content }) => content.versionId !== before)
})

/** As root, outside of most containers. */
describe.skipIf(!mayIsolate || !mayMount || isMissing("chromium"))(
  "a venue (of network namespaces, which this system must allow, with Chromium)",
  () => {
    layer(Venue.layer.pipe(Layer.provideMerge(Logger.minimumLogLevel(LogLevel.Info))), {
      excludeTestServices: true,
      timeout: 300_000
    })((it) => {
      const timeout = 900_000

      describe.concurrent("tells at the machine, at the hub and in an alert", () => {
        it.scoped(
          "that a page was closed",
          () =>
            Effect.gen(function* () {
              const { left } = yield* Venue
              const begins = Effect.flatMap(left.page, ({ close }) => close)
              yield* left.inTurn(
                screenFails("page closed", left, "closed", settling + here, { begins, ends: left.reopen })
              )
            }),
          timeout
        )

        it.scoped(
          "that the process of a page was killed",
          () =>
            Effect.gen(function* () {
              const { middle } = yield* Venue
              const { killRenderers } = middle.kiosk
              yield* middle.inTurn(
                screenFails("renderer killed", middle, "silent", silentPage, {
                  begins: killRenderers,
                  ends: middle.reopen
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that a window was minimised, or is behind another one",
          () =>
            Effect.gen(function* () {
              const { right } = yield* Venue
              const page = yield* right.page
              yield* right.inTurn(
                screenFails("window minimised", right, "hidden", settling + here, {
                  begins: Effect.zipRight(page.minimize, right.kiosk.open("about:blank")),
                  ends: Effect.zipRight(page.restore, page.show)
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that a player was killed",
          () =>
            Effect.gen(function* () {
              const { killed } = yield* Venue
              yield* killed.inTurn(
                happens("player killed", {
                  begins: killed.kill,
                  hub: [
                    "silent",
                    silentPlayer + here,
                    both(playerIs("hall-4", "silent"), hasProblem("player:silent", "hall-4"))
                  ],
                  alert: isOf("hall-4", "player:silent"),
                  ends: killed.start,
                  player: "hall-4"
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that the link to a player is down",
          () =>
            Effect.gen(function* () {
              const { shifted } = yield* Venue
              yield* shifted.inTurn(
                happens("link down", {
                  begins: shifted.pullCable,
                  machine: [
                    shifted,
                    "content:failing",
                    10 + silentPlayer + here,
                    hasProblem("content:failing")
                  ],
                  hub: [
                    "silent",
                    silentPlayer + here,
                    both(playerIs("hall-5", "silent"), hasProblem("player:silent", "hall-5"))
                  ],
                  alert: isOf("hall-5", "player:silent"),
                  ends: shifted.plugCable,
                  player: "hall-5"
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that a browser is stopped",
          () =>
            Effect.gen(function* () {
              const { left } = yield* Venue
              const { begin, end } = yield* left.kiosk.suspend
              yield* left.inTurn(
                screenFails("browser stopped (SIGSTOP)", left, "silent", silentPage, {
                  begins: begin,
                  ends: end
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that a page hangs in an endless loop",
          () =>
            Effect.gen(function* () {
              const { middle } = yield* Venue
              yield* middle.inTurn(
                screenFails("endless loop", middle, "silent", silentPage, {
                  begins: Effect.flatMap(middle.page, ({ run }) => run("for (;;);")),
                  ends: Effect.zipRight(middle.kiosk.killRenderers, middle.reopen)
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that the frame of a kiosk has crashed, which it loads again",
          () =>
            Effect.gen(function* () {
              const { right } = yield* Venue
              yield* right.inTurn(
                Effect.gen(function* () {
                  const page = yield* right.page
                  yield* page.close
                  yield* right.kiosk.open(`file://${fileOf("../../deploy/kiosk/index.html")}?url=${pageUrl}`)
                  yield* sees(right, "it shows the version", healed, screenIs("wall", "showing"))
                  yield* right.kiosk.crashFrames
                  yield* sees(right, "its screen is silent", silentPage, screenIs("wall", "silent"))
                  // Before an alert is due.
                  yield* sees(right, "it shows the version again", healed, screenIs("wall", "showing"))
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that somebody holds the version of a player",
          () =>
            Effect.gen(function* () {
              const { killed } = yield* Venue
              yield* killed.inTurn(
                happens("hold at a player", {
                  begins: vitrine(killed, "hold"),
                  machine: [killed, "content:held", here, hasProblem("content:held")],
                  hub: [
                    "held",
                    atHub,
                    both(playerIs("hall-4", "held"), hasFound(reportedBy("hall-4", "content:held")))
                  ],
                  alert: reportedBy("hall-4", "content:held"),
                  ends: vitrine(killed, "resume"),
                  player: "hall-4"
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that the clock of a player is three hours off, and one that steps",
          () =>
            Effect.gen(function* () {
              const { setClock, shifted } = yield* Venue
              const clock = (name: string, hours: number) =>
                happens(name, {
                  begins: setClock(hours * 3_600_000),
                  hub: ["player:clock", atHub, hasProblem("player:clock", "hall-5")],
                  alert: isOf("hall-5", "player:clock"),
                  ends: setClock(0)
                })
              yield* shifted.inTurn(
                Effect.zipRight(clock("clock 3 h ahead", 3), clock("clock steps 1 h back", -1))
              )
            }),
          timeout
        )

        it.scoped(
          "that the content server of a page fails with 503",
          () =>
            Effect.gen(function* () {
              const { left } = yield* Venue
              const script = (text: string) => Effect.flatMap(left.page, ({ run }) => run(text))
              yield* left.inTurn(
                screenFails("content 503", left, "problem", silentPage, {
                  begins: script(
                    `window.send = fetch; fetch = (url, init) => /manifest/.test(url) ? Promise.resolve(new Response("", { status: 503 })) : send(url, init)`
                  ),
                  ends: script("fetch = send")
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that a page cannot show a version",
          () =>
            Effect.gen(function* () {
              const { middle } = yield* Venue
              const services = yield* Effect.context<Venue>()
              yield* middle.inTurn(
                screenFails("exception in show", middle, "problem", healed, {
                  begins: Effect.zipRight(
                    Effect.flatMap(middle.page, ({ run }) => run("fails = true")),
                    Effect.provide(publish("Barometer"), services)
                  ),
                  ends: Effect.flatMap(middle.page, ({ run }) => run("fails = false"))
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that the disk of a player is full",
          () =>
            Effect.gen(function* () {
              const { disk, shifted } = yield* Venue
              const services = yield* Effect.context<Venue>()
              const isFull: Found = ({ code, text }) =>
                code === "content:failing" && text.includes("the disk is full")
              yield* shifted.inTurn(
                happens("disk full", {
                  begins: Effect.zipRight(
                    disk.fill(0),
                    Effect.provide(publish("Astrolabe ".repeat(4000)), services)
                  ),
                  machine: [shifted, "the disk is full", atHub, hasFound(isFull)],
                  hub: [
                    "problem, the disk is full",
                    atHub + atHub,
                    both(
                      playerIs("hall-5", "problem"),
                      hasFound((problem) => problem.player === "hall-5" && isFull(problem))
                    )
                  ],
                  alert: reportedBy("hall-5", "content:failing"),
                  ends: disk.free,
                  player: "hall-5"
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that a second screen of the same player fails",
          () =>
            Effect.gen(function* () {
              const { floor, left } = yield* Venue
              yield* left.inTurn(
                Effect.gen(function* () {
                  const page = yield* left.page
                  yield* page.close
                  yield* sees(
                    left,
                    "its wall is closed",
                    settling + here,
                    hasProblem("screen:closed", "wall")
                  )
                  const { code, id } = { code: "screen:silent", id: left.id }
                  yield* happens("second screen fails", {
                    begins: Ref.set(floor, false),
                    machine: [
                      left,
                      "silent, closed",
                      silentPage,
                      both(hasProblem(code, "floor"), hasProblem("screen:closed", "wall"))
                    ],
                    hub: ["problem, silent", silentPage + atHub, hasFound(reportedBy(id, code, "floor"))],
                    alert: reportedBy(id, code, "floor"),
                    ends: Ref.set(floor, true)
                  })
                  yield* left.reopen
                  yield* sees(left, "nothing is wrong", healed, ({ problems }) => problems.length === 0)
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that two pages have one id",
          () =>
            Effect.gen(function* () {
              const { middle } = yield* Venue
              yield* middle.inTurn(
                Effect.gen(function* () {
                  const other = yield* openKiosk(middle.by)
                  const twin = yield* Ref.make(Effect.void)
                  const code = "screen:duplicate"
                  yield* happens("one id twice", {
                    begins: Effect.flatMap(other.open(pageUrl), ({ close }) => Ref.set(twin, close)),
                    machine: [middle, code, silentPage, hasProblem(code, "wall")],
                    hub: [
                      `problem, ${code}`,
                      silentPage + atHub,
                      both(playerIs("hall-2", "problem"), hasFound(reportedBy("hall-2", code)))
                    ],
                    alert: reportedBy("hall-2", code),
                    ends: Effect.flatten(Ref.get(twin)),
                    player: "hall-2"
                  })
                })
              )
            }),
          timeout
        )

        it.scoped(
          "nothing but that it is silent of a player that is killed as it copies, and goes on",
          () =>
            Effect.gen(function* () {
              const { hub, killed } = yield* Venue
              yield* killed.inTurn(
                Effect.gen(function* () {
                  yield* publish("Compass")
                  yield* killed.kill
                  yield* killed.start
                  yield* sees(hub, "hall-4 is up to date", healed, playerIs("hall-4", "up to date"))
                  yield* vitrine(killed, "verify")
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that two machines are one player",
          () =>
            Effect.gen(function* () {
              const { shifted, startPlayer } = yield* Venue
              const twin = yield* Ref.make(Effect.void)
              const services = yield* Effect.context<Effect.Effect.Context<ReturnType<typeof startPlayer>>>()
              yield* shifted.inTurn(
                happens("id cloned", {
                  begins: startPlayer("hall-5", {}, "clone").pipe(
                    Effect.flatMap(({ kill }) => Ref.set(twin, kill)),
                    Effect.provide(services)
                  ),
                  hub: [
                    "problem, player:duplicate",
                    atHub + atHub,
                    both(playerIs("hall-5", "problem"), hasProblem("player:duplicate", "hall-5"))
                  ],
                  alert: isOf("hall-5", "player:duplicate"),
                  ends: Effect.flatten(Ref.get(twin)),
                  player: "hall-5"
                })
              )
            }),
          timeout
        )
      })

      describe("tells of itself and of all", () => {
        it.scoped(
          "that a player is not expected and runs another version of Vitrine, and goes silent",
          () =>
            Effect.gen(function* () {
              const { connect, hub } = yield* Venue
              const { by } = yield* connect("guest")
              const body = JSON.stringify(
                report({
                  node: { id: "guest" },
                  vitrine: "0.0.1",
                  sentAt: new Date().toISOString(),
                  problems: [],
                  screens: []
                })
              )
              const script = `fetch("http://${hub.host}/vitrine/reports", { method: "POST", headers: { Authorization: "Bearer ${token}", "Content-Type": "application/json" }, body: ${JSON.stringify(body)} }).then(({ status }) => { if (status !== 200) process.exit(1) })`
              const [program = "", ...args] = [...by, process.execPath, "-e", script]
              const isGuest = ({ players }: View) =>
                players.some(
                  ({ id, isExpected, said }) => id === "guest" && !isExpected && said?.vitrine === "0.0.1"
                )
              yield* happens("unexpected player, old version", {
                begins: Effect.promise(() => promisify(execFile)(program, args)),
                hub: ["not expected, 0.0.1", here, isGuest],
                alert: ({ code, severity, subject }) =>
                  code === "player:silent" && subject === "guest" && severity === "warning",
                ends: Effect.promise(() => promisify(execFile)(program, args))
              })
            }),
          timeout
        )

        it.scoped(
          "that the source cannot be reached",
          () =>
            Effect.gen(function* () {
              const { hub } = yield* Venue
              const [program = "", ...args] = hub.by
              const loopback = (state: "down" | "up") =>
                Effect.sync(() => execFileSync(program, [...args, "ip", "link", "set", "lo", state]))
              const failing: Found = ({ code, player }) => code === "content:failing" && player === undefined
              yield* happens("source unreachable", {
                begins: loopback("down"),
                hub: ["content:failing", silentPlayer, hasFound(failing)],
                alert: failing,
                ends: loopback("up")
              })
            }),
          timeout
        )

        it.scoped(
          "that its version is held, also where a page shows the one that waits",
          () =>
            Effect.gen(function* () {
              const { hub, right } = yield* Venue
              const held: Found = ({ code, player }) => code === "content:held" && player === undefined
              const before = yield* versionOf(hub)
              yield* happens("hold at the hub", {
                begins: Effect.gen(function* () {
                  yield* vitrine(hub, "hold")
                  yield* hub.write("Dividers")
                  yield* right.kiosk.open("http://127.0.0.1:8730/?screen=look&version=waiting")
                }),
                machine: [right, "look showing", healed, screenIs("look", "showing")],
                hub: ["content:held", here, hasFound(held)],
                alert: held,
                ends: vitrine(hub, "release")
              })
              expect(yield* versionOf(hub)).not.toBe(before)
              yield* Effect.flatMap(right.page, ({ close }) => close)
            }),
          timeout
        )

        it.scoped(
          "that somebody has gone back to the version before, which all players show",
          () =>
            Effect.gen(function* () {
              const { hub } = yield* Venue
              const held: Found = ({ code, player }) => code === "content:held" && player === undefined
              const before = yield* versionOf(hub)
              const all = both(...halls.map((id) => playerIs(id, "up to date")))
              yield* happens("release and rollback", {
                begins: vitrine(hub, "rollback"),
                hub: [
                  "content:held",
                  healed,
                  both(hasFound(held), all, ({ content }) => content.versionId !== before)
                ],
                alert: held,
                ends: vitrine(hub, "resume")
              })
              yield* sees(hub, "all show the latest version", healed, all)
            }),
          timeout
        )

        it.scoped(
          "nothing where it is started again",
          () =>
            Effect.gen(function* () {
              const { hub } = yield* Venue
              yield* hub.stop
              yield* hub.start
              const all = both(...halls.map((id) => playerIs(id, "up to date")))
              const took = yield* sees(hub, "all players are up to date", healed, all)
              yield* Effect.logInfo(`hub restarted | hub "up to date" ${took}`)
            }),
          timeout
        )

        it.scoped(
          "that the hub is away, by one alert of the player that has alerts",
          () =>
            Effect.gen(function* () {
              const { hub, middle } = yield* Venue
              yield* happens("hub stopped", {
                begins: hub.kill,
                machine: [middle, "content:failing", 10 + silentPlayer + here, hasProblem("content:failing")],
                alert: ({ code }) => code === "content:failing",
                from: "hall-2",
                ends: hub.start
              })
              yield* sees(hub, "nothing is wrong", healed, ({ problems }) => problems.length === 0)
            }),
          timeout
        )

        it.scoped(
          "that a player crashes again and again",
          () =>
            Effect.gen(function* () {
              const { hub, killed } = yield* Venue
              const hears = yield* (yield* Venue).listen
              yield* Effect.repeatN(Effect.zipRight(killed.kill, killed.start), 3)
              const found = isOf("hall-4", "player:restarting")
              const seen = yield* sees(
                hub,
                "hall-4 restarts",
                atHub,
                both(playerIs("hall-4", "problem"), hasFound(found))
              )
              const told = yield* hears("hall-4 restarts", atHub + alerting, ({ problem }) => found(problem))
              yield* Effect.logInfo(`crash loop | hub "problem, player:restarting" ${seen} | alert ${told}`)
            }),
          timeout
        )
      })
    })
  }
)
