/**
 * A venue on networks of its own: a hub and six players, pages in Chromium on three of them. Whatever fails is seen as what it is,
 * at the machine and at the hub, and is over by itself.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import { openKiosk } from "../support/kiosk.ts"
import {
  hasProblem,
  type Machine,
  makeHub,
  makePlayer,
  playerIs,
  reportedScreenIs,
  reportsProblem,
  screenIs,
  sees,
  type View
} from "../support/machines.ts"
import { makeNetwork, mayIsolate } from "../support/namespaces.ts"
import { isMissing } from "../support/programs.ts"
import { mayMount, smallDisk } from "../support/tmpfs.ts"

const halls = [1, 2, 3, 4, 5, 6].map((number) => `hall-${number}`)

/** In seconds: what has failed is seen so soon at its machine, at the hub, and of machines and pages that say nothing any more. */
const here = 5
const atHub = 20
const silentPlayer = 30
const silentPage = 45
/** How long a page is hidden before that is a problem. */
const settling = 10
/** What ends a failure may take, with pauses between tries and on a busy machine. */
const healed = 90

/** Each machine has the usual ports. */
const startVenue = Effect.gen(function* () {
  const { connect } = yield* makeNetwork
  const { address, by } = yield* connect("hub")
  const hub = yield* makeHub({
    by,
    env: { HOST: "0.0.0.0", CONTENT_PORT: "8730", TABLES_PORT: "8740", PLAYERS: halls.join(" ") }
  })
  yield* hub.start
  const disk = yield* smallDisk
  const startPlayer = Effect.fnUntraced(function* (id: string, env: Readonly<Record<string, string>>) {
    const place = yield* connect(id)
    const common = { HUB: `http://${address}:8730`, TRANSPORT_PORT: "8710", CONTENT_PORT: "8730" }
    const player = yield* makePlayer(id, { by: place.by, env: { ...common, ...env } })
    yield* player.start
    return { ...player, ...place }
  })
  const withPage = Effect.fnUntraced(function* (id: string) {
    const player = yield* startPlayer(id, { SCREENS: "wall" })
    const kiosk = yield* openKiosk(player.by)
    const open = kiosk.open("http://127.0.0.1:8730/?screen=wall")
    return { ...player, kiosk, open, page: yield* open }
  })
  return yield* Effect.all(
    {
      hub: Effect.succeed(hub),
      disk: Effect.succeed(disk),
      closed: withPage("hall-1"),
      crashed: withPage("hall-2"),
      hidden: withPage("hall-3"),
      killed: startPlayer("hall-4", {}),
      cut: startPlayer("hall-5", {}),
      full: startPlayer("hall-6", { DOWNLOADS: `${disk.folder}/downloads` })
    },
    { concurrency: 3 }
  )
})

type Venue = Effect.Effect.Success<typeof startVenue>

const versionOf = ({ view }: Machine) =>
  Effect.map(view, (view) => Option.getOrUndefined(view)?.content.versionId)

const isFull = ({ problems }: View): boolean =>
  problems.some(({ code, text }) => code === "content:failing" && text.includes("the disk is full"))

const isFine = ({ problems }: View): boolean => problems.length === 0

const shows = (player: Machine, seconds: number) =>
  sees(player, "its screen shows the version", seconds, screenIs("wall", "showing"))

const isUpToDate = (hub: Machine, id: string, seconds: number) =>
  sees(hub, `${id} is up to date`, seconds, playerIs(id, "up to date"))

const closePage = ({ closed, hub }: Venue) =>
  Effect.gen(function* () {
    yield* closed.page.close
    yield* Effect.all(
      [
        sees(closed, "its page was closed", here, screenIs("wall", "closed")),
        sees(hub, "the page of hall-1 was closed", atHub, reportedScreenIs("hall-1", "wall", "closed"))
      ],
      { concurrency: 2 }
    )
    yield* sees(closed, "that is a problem", 15 + here, hasProblem("screen:closed", "wall"))
    yield* sees(hub, "hall-1 has a problem", atHub, playerIs("hall-1", "problem"))
    yield* closed.open
    yield* shows(closed, healed)
    yield* isUpToDate(hub, "hall-1", atHub)
  })

const killRenderer = ({ crashed, hub }: Venue) =>
  Effect.gen(function* () {
    yield* crashed.kiosk.killRenderers
    yield* sees(crashed, "its page is silent", silentPage, screenIs("wall", "silent"))
    yield* sees(hub, "hall-2 has a problem", atHub, playerIs("hall-2", "problem"))
    yield* crashed.open
    yield* shows(crashed, healed)
    yield* isUpToDate(hub, "hall-2", atHub)
  })

const hidePage = ({ hidden, hub }: Venue) =>
  Effect.gen(function* () {
    yield* hidden.kiosk.open("about:blank")
    yield* Effect.all(
      [
        sees(hidden, "its page is hidden", here, screenIs("wall", "hidden")),
        sees(hidden, "that is a problem", settling + here, hasProblem("screen:hidden", "wall")),
        sees(hub, "the page of hall-3 is hidden", atHub, reportedScreenIs("hall-3", "wall", "hidden")),
        sees(hub, "hall-3 has a problem", settling + atHub, playerIs("hall-3", "problem"))
      ],
      { concurrency: 4 }
    )
    yield* hidden.page.show
    yield* shows(hidden, healed)
    yield* isUpToDate(hub, "hall-3", atHub)
  })

const killPlayer = ({ hub, killed }: Venue) =>
  Effect.gen(function* () {
    yield* killed.kill
    yield* sees(hub, "hall-4 is silent", silentPlayer, playerIs("hall-4", "silent"))
    yield* sees(hub, "that is a problem", here, hasProblem("player:silent", "hall-4"))
    yield* killed.start
    yield* isUpToDate(hub, "hall-4", healed)
  })

const cutNetwork = ({ cut, hub }: Venue) =>
  Effect.gen(function* () {
    yield* cut.pullCable
    yield* Effect.all(
      [
        sees(hub, "hall-5 is silent", silentPlayer, playerIs("hall-5", "silent")),
        // At most ten seconds later, a report is sent in vain.
        sees(cut, "its hub is away", 10 + silentPlayer + here, hasProblem("content:failing"))
      ],
      { concurrency: 2 }
    )
    yield* cut.plugCable
    yield* isUpToDate(hub, "hall-5", healed)
    yield* sees(cut, "nothing is wrong", healed, isFine)
  })

const fillDisk = ({ disk, full, hub }: Venue) =>
  Effect.gen(function* () {
    const before = yield* versionOf(hub)
    yield* Effect.orDie(disk.fill(0))
    // More than versions that no screen shows would make room for.
    yield* hub.write("Astrolabe ".repeat(4000))
    yield* sees(hub, "there is another version", healed, ({ content: { versionId } }) => versionId !== before)
    yield* Effect.all(
      [
        sees(full, "its disk is full", here, isFull),
        sees(hub, "hall-6 cannot copy it", atHub, reportsProblem("hall-6", "content:failing"))
      ],
      { concurrency: 2 }
    )
    yield* Effect.orDie(disk.free)
    yield* sees(full, "nothing is wrong", healed, isFine)
    yield* isUpToDate(hub, "hall-6", atHub)
  })

const stopHub = (venue: Venue) =>
  Effect.gen(function* () {
    const { hub } = venue
    const players = [venue.closed, venue.crashed, venue.hidden, venue.killed, venue.cut, venue.full]
    const all = (look: (player: Machine) => Effect.Effect<void>) =>
      Effect.forEach(players, look, { concurrency: "unbounded", discard: true })
    yield* hub.stop
    yield* all((player) =>
      sees(player, "its hub is away", 10 + silentPlayer + here, hasProblem("content:failing"))
    )
    yield* hub.start
    yield* all((player) => sees(player, "nothing is wrong", healed, isFine))
    yield* sees(hub, "nothing is wrong", healed, isFine)
  })

/** As root, outside of most containers. */
describe.skipIf(!mayIsolate || !mayMount || isMissing("chromium"))(
  "a venue (of network namespaces, which this system must allow, with Chromium)",
  () => {
    it.scopedLive(
      "sees each failure as what it is, and that it is over",
      () =>
        Effect.gen(function* () {
          const venue = yield* startVenue
          yield* Effect.forEach([venue.closed, venue.crashed, venue.hidden], (player) =>
            shows(player, healed)
          )
          yield* Effect.forEach(halls, (id) => isUpToDate(venue.hub, id, healed))
          yield* sees(venue.hub, "nothing is wrong", healed, isFine)
          const failures = [closePage, killRenderer, hidePage, killPlayer, cutNetwork, fillDisk]
          yield* Effect.forEach(failures, (fails) => fails(venue), {
            concurrency: "unbounded",
            discard: true
          })
          yield* sees(venue.hub, "nothing is wrong", healed, isFine)
          yield* stopHub(venue)
        }).pipe(Effect.provide(NodeContext.layer), Logger.withMinimumLogLevel(LogLevel.Debug)),
      600_000
    )
  }
)
