/**
 * Whatever fails in a venue is said as what it is, at the machine, at the hub and in an alert, each within its time, and is over by
 * itself: `-t "page was closed"` runs one event in two minutes, all of them take half an hour. Each is a row of the table that is shown.
 *
 * Opening hours and the change to summer time are tested with a clock of their own, in `test/layers/status/openingHours.test.ts`, and the
 * end of a crash loop after ten minutes in `test/layers/fleet`.
 */
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { describe, expect, layer } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import { openKiosk } from "../support/kiosk.ts"
import { hasProblem, keeps, playerIs, screenIs, sees, type View } from "../support/machines.ts"
import { mayIsolate } from "../support/namespaces.ts"
import { isMissing } from "../support/programs.ts"
import { mayMount } from "../support/tmpfs.ts"
import { halls, publish, Venue, versionOf, vitrine } from "../support/venue.ts"
import {
  allOf,
  atHub,
  type Found,
  happens,
  hasFound,
  healed,
  here,
  isFine,
  isOf,
  reportedBy,
  says,
  screenFails,
  settling,
  silentPage,
  silentPlayer,
  tabulate
} from "../support/venueEvent.ts"

/** What a machine takes to start, or to copy a version, while all others run here too. */
const soon = 240

/** A problem of the hub itself. */
const hubHas =
  (code: string): Found =>
  (problem) =>
    problem.code === code && problem.player === undefined

const areUpToDate = allOf(...halls.map((id) => playerIs(id, "up to date")))

/** As root, outside of most containers. */
describe.skipIf(!mayIsolate || !mayMount || isMissing("chromium"))(
  "a venue (of network namespaces, which this system must allow, with Chromium)",
  () => {
    layer(Venue.layer, { excludeTestServices: true, timeout: 600_000 })((it) => {
      const timeout = 2_400_000

      describe.concurrent("shows at the machine, at the hub and in an alert", () => {
        it.scoped(
          "that a page was closed",
          () =>
            Effect.gen(function* () {
              const { left } = yield* Venue
              yield* left.inTurn(
                screenFails("page closed", left, {
                  word: "closed",
                  within: settling + here,
                  wordWithin: here,
                  begins: Effect.flatMap(left.page, ({ close }) => close),
                  ends: left.reopen
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that the process of a page was killed",
          () =>
            Effect.gen(function* () {
              const { middle } = yield* Venue
              yield* middle.inTurn(
                screenFails("renderer killed", middle, {
                  word: "silent",
                  within: silentPage,
                  begins: middle.kiosk.killRenderers,
                  ends: middle.reopen
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that a player was killed",
          () =>
            Effect.gen(function* () {
              const { hub, lone } = yield* Venue
              yield* lone.inTurn(
                happens("player killed", {
                  begins: lone.kill,
                  says: [
                    says(hub, "silent", silentPlayer, playerIs("hall-4", "silent")),
                    says(hub, "problem", silentPlayer + here, hasProblem("player:silent", "hall-4"))
                  ],
                  alert: isOf("hall-4", "player:silent"),
                  ends: lone.start,
                  over: [says(hub, "up to date", healed, playerIs("hall-4", "up to date"))]
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that the link to a player is down",
          () =>
            Effect.gen(function* () {
              const { hub, shifted } = yield* Venue
              yield* shifted.inTurn(
                happens("link down", {
                  begins: shifted.pullCable,
                  says: [
                    // At most ten seconds later, a report is sent in vain.
                    says(shifted, "content:failing", 10 + silentPlayer + here, hasProblem("content:failing")),
                    says(hub, "silent", silentPlayer, playerIs("hall-5", "silent")),
                    says(hub, "problem", silentPlayer + here, hasProblem("player:silent", "hall-5"))
                  ],
                  alert: isOf("hall-5", "player:silent"),
                  ends: shifted.plugCable,
                  over: [
                    says(shifted, "nothing is wrong", healed, isFine),
                    says(hub, "up to date", healed, playerIs("hall-5", "up to date"))
                  ]
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
                screenFails("endless loop", middle, {
                  word: "silent",
                  within: silentPage,
                  begins: Effect.flatMap(middle.page, ({ run }) => run("for (;;);")),
                  ends: Effect.flatMap(middle.page, ({ close }) => Effect.zipRight(close, middle.reopen))
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that the frame of a kiosk has crashed, which loads it again",
          () =>
            Effect.gen(function* () {
              const { desk, hub, right } = yield* Venue
              yield* right.inTurn(
                Effect.gen(function* () {
                  const { heard } = yield* desk.listen
                  yield* right.kiosk.crashFrames
                  const [silent, problem] = yield* Effect.all(
                    [
                      sees(right, "it is silent", soon, screenIs("wall", "silent")),
                      sees(hub, "that is a problem", soon, playerIs(right.id, "problem"))
                    ],
                    { concurrency: 2 }
                  )
                  const back = yield* sees(right, "it shows the version", soon, screenIs("wall", "showing"))
                  // Whether it lasts until somebody is alerted depends on "after".
                  const alerts = (yield* heard).filter(({ problem }) => problem.player === right.id)
                  yield* tabulate("kiosk's frame crashed", {
                    alert: alerts.map(({ event }) => event),
                    machine: [`silent ${silent.toFixed(1)}/${silentPage}`],
                    hub: [`problem ${problem.toFixed(1)}/${silentPage + atHub}`],
                    over: [`showing ${back.toFixed(1)}`]
                  })
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that somebody holds the version of a player",
          () =>
            Effect.gen(function* () {
              const { hub, lone } = yield* Venue
              yield* lone.inTurn(
                happens("hold at a player", {
                  begins: vitrine(lone, "hold"),
                  says: [
                    says(lone, "content:held", here, hasProblem("content:held")),
                    says(
                      hub,
                      "held",
                      atHub,
                      allOf(playerIs("hall-4", "held"), hasFound(reportedBy("hall-4", "content:held")))
                    )
                  ],
                  alert: reportedBy("hall-4", "content:held"),
                  ends: vitrine(lone, "resume"),
                  over: [says(hub, "up to date", healed, playerIs("hall-4", "up to date"))]
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that the clock of a player is three hours off, and one that steps",
          () =>
            Effect.gen(function* () {
              const { hub, setClock, shifted } = yield* Venue
              const clock = (name: string, hours: number) =>
                happens(name, {
                  begins: setClock(hours * 3_600_000),
                  says: [says(hub, "player:clock", atHub, hasProblem("player:clock", "hall-5"))],
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
          "that a page cannot show a version",
          () =>
            Effect.gen(function* () {
              const { middle } = yield* Venue
              const script = (text: string) => Effect.flatMap(middle.page, ({ run }) => run(text))
              yield* middle.inTurn(
                screenFails("exception in show", middle, {
                  word: "problem",
                  within: silentPage,
                  begins: Effect.zipRight(script("fails = true"), publish("Barometer")),
                  ends: script("fails = false")
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that a player was stopped, and by whom, which is no problem",
          () =>
            Effect.gen(function* () {
              const { desk, hub, right } = yield* Venue
              const isStoppedBy =
                (who: RegExp) =>
                ({ players }: View) =>
                  players.some(
                    ({ id, said, word }) =>
                      id === right.id && word === "stopped" && who.test(said?.stoppedBy ?? "")
                  )
              const ofRight: Found = ({ player, subject }) => player === right.id || subject === right.id
              const stops = Effect.fnUntraced(function* (
                name: string,
                stop: Effect.Effect<unknown>,
                who: RegExp
              ) {
                const { heard } = yield* desk.listen
                yield* stop
                const took = yield* sees(hub, `it was stopped by ${who}`, soon, isStoppedBy(who))
                expect(yield* vitrine(hub, "status")).toMatch(
                  new RegExp(`hall-3 +stopped by ${who.source} at `)
                )
                yield* keeps(
                  hub,
                  "that is no problem",
                  silentPlayer + atHub,
                  (view) => !hasFound(ofRight)(view)
                )
                yield* right.start
                const back = yield* sees(hub, "it is up to date", soon, playerIs(right.id, "up to date"))
                yield* sees(right, "nothing is wrong", soon, isFine)
                expect((yield* heard).filter(({ problem }) => ofRight(problem))).toEqual([])
                yield* tabulate(name, {
                  hub: [`stopped by … ${took.toFixed(1)}/${here}`],
                  over: [`up to date ${back.toFixed(1)}`]
                })
              })
              yield* right.inTurn(
                Effect.zipRight(
                  stops("vitrine stop", vitrine(right, "stop"), /\S+@\S+/),
                  stops("SIGTERM, as by systemd", right.stop, /the system/)
                )
              )
            }),
          timeout
        )

        it.scoped(
          "nothing of a player that is killed while it copies, and goes on",
          () =>
            Effect.gen(function* () {
              const { desk, hub, lone } = yield* Venue
              yield* lone.inTurn(
                Effect.gen(function* () {
                  const { heard } = yield* desk.listen
                  yield* lone.slowCable(32_000)
                  yield* publish(randomBytes(12_000).toString("hex"))
                  const copying = yield* sees(hub, "it copies", soon, playerIs(lone.id, "copying"))
                  yield* lone.kill
                  yield* lone.fastCable
                  yield* lone.start
                  const back = yield* sees(hub, "it is up to date", soon, playerIs(lone.id, "up to date"))
                  yield* vitrine(lone, "verify")
                  expect((yield* heard).filter(({ problem }) => problem.subject === lone.id)).toEqual([])
                  yield* tabulate("killed during a copy", {
                    hub: [`copying ${copying.toFixed(1)}`],
                    over: [`up to date ${back.toFixed(1)}`]
                  })
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that the disk of a player is full",
          () =>
            Effect.gen(function* () {
              const { disk, hub, shifted } = yield* Venue
              const isFull: Found = ({ code, text }) =>
                code === "content:failing" && text.includes("the disk is full")
              yield* shifted.inTurn(
                happens("disk full", {
                  // More than versions that no screen shows would make room for.
                  begins: Effect.zipRight(disk.fill(0), publish("Astrolabe ".repeat(4000))),
                  says: [
                    says(shifted, "the disk is full", here, hasFound(isFull)),
                    says(
                      hub,
                      "problem, the disk is full",
                      atHub,
                      allOf(
                        playerIs("hall-5", "problem"),
                        hasFound((problem) => problem.player === "hall-5" && isFull(problem))
                      )
                    )
                  ],
                  alert: reportedBy("hall-5", "content:failing"),
                  ends: disk.free,
                  over: [
                    says(shifted, "nothing is wrong", healed, isFine),
                    says(hub, "up to date", healed, playerIs("hall-5", "up to date"))
                  ]
                })
              )
            }),
          timeout
        )

        it.scoped(
          "that two machines are one player",
          () =>
            Effect.gen(function* () {
              const { hub, shifted, startPlayer } = yield* Venue
              const other = yield* Ref.make(Effect.void)
              yield* shifted.inTurn(
                happens("id cloned", {
                  begins: Effect.flatMap(startPlayer("hall-5", {}, "clone"), ({ kill }) =>
                    Ref.set(other, kill)
                  ),
                  says: [
                    says(
                      hub,
                      "problem, player:duplicate",
                      atHub + atHub,
                      allOf(playerIs("hall-5", "problem"), hasProblem("player:duplicate", "hall-5"))
                    )
                  ],
                  alert: isOf("hall-5", "player:duplicate"),
                  ends: Effect.flatten(Ref.get(other)),
                  // It is one machine again when nothing was heard of the other for a minute.
                  over: [says(hub, "up to date", 60 + healed, playerIs("hall-5", "up to date"))]
                })
              )
            }),
          timeout
        )
      })

      describe("shows of the hub and of all players", () => {
        it.scoped(
          "that the source cannot be reached",
          () =>
            Effect.gen(function* () {
              const { hub } = yield* Venue
              const [program = "", ...args] = hub.by
              const loopback = (state: "down" | "up") =>
                Effect.sync(() => execFileSync(program, [...args, "ip", "link", "set", "lo", state]))
              const failing = hubHas("content:failing")
              yield* happens("source unreachable", {
                begins: loopback("down"),
                // The first request is sent on a connection that is open, and waits for a minute; a fetch ends after four.
                says: [
                  says(hub, "source:waiting", 60 + here, hasFound(hubHas("source:waiting"))),
                  says(hub, "content:failing", 120, hasFound(failing))
                ],
                alert: failing,
                ends: loopback("up")
              })
            }),
          timeout
        )

        it.scoped(
          "that its version is held, where people of the venue look at the one that waits",
          () =>
            Effect.gen(function* () {
              const { desk, hub, right } = yield* Venue
              const held = hubHas("content:held")
              const before = yield* versionOf(hub)
              const { open } = yield* openKiosk(desk.by)
              const preview = yield* open(`http://${hub.address}/?version=waiting`)
              yield* happens("hold at the hub", {
                begins: vitrine(hub, "hold"),
                says: [says(hub, "content:held", here, hasFound(held))],
                alert: held,
                ends: Effect.gen(function* () {
                  yield* hub.write("Dividers")
                  const isSeen = Effect.repeat(preview.text, {
                    schedule: Schedule.spaced("200 millis"),
                    until: (text) => text.includes("Dividers") && text.includes("waits to be released")
                  })
                  const [took] = yield* Effect.timed(Effect.timeout(isSeen, `${soon} seconds`))
                  expect(yield* versionOf(hub)).toBe(before)
                  expect(yield* versionOf(right)).toBe(before)
                  yield* vitrine(hub, "release")
                  yield* sees(hub, "it shows it", soon, ({ content }) => content.versionId !== before)
                  yield* tabulate("preview", {
                    hub: [`waits to be released ${Duration.toSeconds(took).toFixed(1)}`]
                  })
                }).pipe(Effect.ensuring(vitrine(hub, "resume"))),
                over: [
                  says(
                    hub,
                    "up to date",
                    healed,
                    allOf(areUpToDate, ({ content }) => content.versionId !== before)
                  )
                ]
              })
            }),
          timeout
        )

        it.scoped(
          "that somebody has gone back to the version before, which all players show",
          () =>
            Effect.gen(function* () {
              const { hub } = yield* Venue
              const held = hubHas("content:held")
              yield* publish("Hourglass")
              yield* sees(hub, "all show the latest version", soon, areUpToDate)
              const before = yield* versionOf(hub)
              const isBefore = ({ content }: View) => content.versionId === before
              yield* happens("release and rollback", {
                begins: vitrine(hub, "rollback"),
                says: [
                  says(hub, "content:held", here, hasFound(held)),
                  says(hub, "up to date", healed, (view) => areUpToDate(view) && !isBefore(view))
                ],
                alert: held,
                ends: vitrine(hub, "resume"),
                over: [says(hub, "up to date", healed, allOf(areUpToDate, isBefore))]
              })
            }),
          timeout
        )

        it.scoped(
          "nothing where the hub is started again",
          () =>
            Effect.gen(function* () {
              const { desk, hub } = yield* Venue
              const { heard } = yield* desk.listen
              yield* hub.stop
              yield* hub.start
              const took = yield* sees(hub, "all are up to date", soon, areUpToDate)
              yield* keeps(
                hub,
                "it misses no player",
                silentPlayer + atHub,
                ({ problems }) => !problems.some(({ code }) => code.startsWith("player:"))
              )
              yield* sees(hub, "all are up to date, and nothing is wrong", soon, allOf(areUpToDate, isFine))
              expect((yield* heard).filter(({ from }) => from === "hub")).toEqual([])
              yield* tabulate("hub restarted", { hub: [`up to date ${took.toFixed(1)}/${healed}`] })
            }),
          timeout
        )

        it.scoped(
          "that the hub is away, by one alert of the player that has alerts",
          () =>
            Effect.gen(function* () {
              const { hub, left, lone, middle, right, shifted } = yield* Venue
              const players = [left, middle, right, lone, shifted]
              const alerts = yield* happens("hub stopped", {
                begins: hub.stop,
                says: players.map((player) =>
                  says(player, "content:failing", 10 + silentPlayer + here, hasProblem("content:failing"))
                ),
                alert: ({ code }) => code === "content:failing",
                from: middle.id,
                ends: hub.start,
                over: [...players, hub].map((machine) => says(machine, "nothing is wrong", healed, isFine))
              })
              expect(alerts.map(({ event, from }) => [event, from])).toEqual([["begin", middle.id]])
            }),
          timeout
        )

        it.scoped(
          "that a player crashes again and again",
          () =>
            Effect.gen(function* () {
              const { desk, hub, lone } = yield* Venue
              const { hears } = yield* desk.listen
              const runOf = ({ players }: View) => players.find(({ id }) => id === lone.id)?.said?.runId
              const crash = Effect.gen(function* () {
                const before = runOf(yield* yield* hub.view)
                yield* lone.kill
                yield* lone.start
                yield* sees(hub, "it has started again", soon, (view) => runOf(view) !== before)
              })
              yield* Effect.repeatN(crash, 2)
              const found = isOf("hall-4", "player:restarting")
              const seen = yield* sees(
                hub,
                "hall-4 restarts",
                soon,
                allOf(playerIs("hall-4", "problem"), hasFound(found))
              )
              const told = yield* hears("hall-4 restarts", soon, ({ problem }) => found(problem))
              yield* tabulate("crash loop", {
                hub: [`problem, player:restarting ${seen.toFixed(1)}/${atHub}`],
                alert: [told.toFixed(1)]
              })
            }),
          timeout
        )
      })
    })
  }
)
