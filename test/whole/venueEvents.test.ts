/**
 * Whatever fails in a venue is said as what it is, at the machine, at the hub and in an alert, each within its time, and is over by
 * itself: `-t "page was closed"` runs one event in two minutes. Each is a row of the table that is shown.
 *
 * Opening hours and the change to summer time are tested with a clock of their own, in `test/layers/status/openingHours.test.ts`, and the
 * end of a crash loop after ten minutes in `test/layers/fleet`.
 */
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { describe, expect, layer } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { openKiosk } from "../support/kiosk.ts"
import { hasProblem, playerIs, sees } from "../support/machines.ts"
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
              const { hub, small } = yield* Venue
              yield* small.inTurn(
                happens("link down", {
                  begins: small.pullCable,
                  says: [
                    // At most ten seconds later, a report is sent in vain.
                    says(small, "content:failing", 10 + silentPlayer + here, hasProblem("content:failing")),
                    says(hub, "silent", silentPlayer, playerIs("hall-5", "silent")),
                    says(hub, "problem", silentPlayer + here, hasProblem("player:silent", "hall-5"))
                  ],
                  alert: isOf("hall-5", "player:silent"),
                  ends: small.plugCable,
                  over: [
                    says(small, "nothing is wrong", healed, isFine),
                    says(hub, "up to date", healed, playerIs("hall-5", "up to date"))
                  ]
                })
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
              const { disk, hub, small } = yield* Venue
              const isFull: Found = ({ code, text }) =>
                code === "content:failing" && text.includes("the disk is full")
              yield* small.inTurn(
                happens("disk full", {
                  // More than versions that no screen shows would make room for.
                  begins: Effect.zipRight(disk.fill(0), publish("Astrolabe ".repeat(4000))),
                  says: [
                    says(small, "the disk is full", here, hasFound(isFull)),
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
                    says(small, "nothing is wrong", healed, isFine),
                    says(hub, "up to date", healed, playerIs("hall-5", "up to date"))
                  ]
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
          "that the hub is away, by one alert of the player that has alerts",
          () =>
            Effect.gen(function* () {
              const { hub, left, lone, middle, right, small } = yield* Venue
              const players = [left, middle, right, lone, small]
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
      })
    })
  }
)
