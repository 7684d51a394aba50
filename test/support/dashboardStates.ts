/**
 * What a dashboard shows, in states that a museum may be in: over services in memory, without a controller.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ControllerStateMemory from "../../src/layers/controller/ControllerStateMemory.ts"
import * as DashboardLayer from "../../src/layers/dashboard/Dashboard.ts"
import { pluginReport } from "../../src/layers/fetching/pluginReport.ts"
import { ControllerState, type Identity } from "../../src/services/ControllerState.ts"
import type { Player } from "../../src/services/PlayerReport.ts"
import type { ContentServerState, ContentState, Screen } from "../../src/services/Slices.ts"
import { pluginsOf } from "./plugins.ts"
import { memoryServices, register } from "./transport.ts"

const seconds = 1000
const minutes = 60 * seconds
const hours = 60 * minutes
const days = 24 * hours

/** When the controller was started. */
const upFor = 3 * days + 4 * hours

const ago = (millis: number) => new Date(Date.now() - millis).toISOString()

/** The id of a version that was made then. */
const versionAt = (millis: number) => `${ago(millis).slice(0, 19).replace(/[-:]/g, "")}Z`

const versions = {
  waiting: versionAt(4 * minutes),
  latest: versionAt(2 * hours + 13 * minutes),
  older: [1, 2, 3, 8, 9, 15].map((day) => versionAt(day * days - 90 * minutes))
}

const changes = [
  [
    'Objects: "Fog Bell" year 1862 → 1863, "Serpent" text and 1 more field, 2 more',
    "Settings: slideSeconds 12 → 9"
  ],
  ['Objects: "Umbrella Ticket" added', "files: pictures/umbrella-ticket.svg added"],
  ['Objects: "Jelly Mould" maker nothing → Copeland & Garrett, Stoke-on-Trent']
]

const versionsReport = ({ failingSince, held }: Partial<ContentState>) => {
  const isHeld = held !== undefined
  const ids = [...versions.older.toReversed(), versions.latest, ...(isHeld ? [versions.waiting] : [])]
  const isReleased = { released: { at: ago(2 * hours), until: ago(2 * hours) } }
  return {
    ...(isHeld || failingSince !== undefined ? {} : isReleased),
    versions: ids.map((versionId, index) => {
      const words = changes[ids.length - 1 - index]
      return {
        versionId,
        active: versionId === versions.latest,
        isWaiting: versionId === versions.waiting,
        leases: [],
        isRead: false,
        generatedAt: ago(0),
        sources: [
          { sourceId: "exhibit", records: 212 + index, files: 96 + index, bytes: 48_234_496 + index * 65_536 }
        ],
        ...(words === undefined ? {} : { changes: words })
      }
    })
  }
}

const screen = (id: string, said: Partial<Screen> = {}): Screen => ({
  id,
  versionId: versions.latest,
  shownSince: ago(2 * hours + 12 * minutes),
  heardAt: ago(20 * seconds),
  renewMs: 60_000,
  visible: true,
  drawing: true,
  until: ago(-29 * minutes),
  ...said
})

const content = (slice: Partial<ContentState> = {}): ContentState => ({
  kind: "content",
  versionId: versions.latest,
  generatedAt: ago(2 * hours + 13 * minutes),
  activeSince: ago(2 * hours + 13 * minutes),
  lastFetch: {
    timestamp: ago(4 * minutes),
    changed: false,
    versionId: versions.latest,
    records: 218,
    durationMs: 2300
  },
  lastSuccess: ago(4 * minutes),
  nextFetch: { at: ago(-6 * minutes), isRetry: false },
  sources: {},
  screens: [],
  ...slice
})

const logged = Effect.zipRight(
  Effect.log(`New version ${versions.latest}: 218 records, 102 files`),
  Effect.log("Screen left-wall shows it, 0.4 s later")
)

const room = (label: string): Identity => ({
  node: { id: "gallery-2", label },
  screens: [
    { id: "left-wall", label: "Left wall" },
    { id: "right-wall", label: "Right wall" },
    { id: "touch-table", label: "Touch table" }
  ]
})

/** A dashboard of a controller that has run for days, and what is in its state. */
const state = <E, R>(identity: Identity, setUp: Effect.Effect<unknown, E, R>) =>
  Layer.scopedDiscard(logged).pipe(
    Layer.provideMerge(DashboardLayer.layer({ port: 0 })),
    Layer.provideMerge(Layer.scopedDiscard(setUp)),
    Layer.provideMerge(
      Layer.merge(
        memoryServices(),
        Layer.effect(
          ControllerState,
          Effect.withClock(ControllerStateMemory.make("persistent", identity), startedEarlier)
        )
      )
    )
  )

const clock = Clock.make()

const startedEarlier = Object.assign(Clock.make(), {
  currentTimeMillis: Effect.sync(() => Date.now() - upFor),
  unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos() - BigInt(upFor) * 1_000_000n
})

const showing = () => ["left-wall", "right-wall", "touch-table"].map((id) => screen(id))

/** As it would be at any time from now on. */
const setSlice = (name: string, slice: () => object) =>
  Effect.flatMap(Effect.map(ControllerState, pluginsOf), ({ addMomentary }) =>
    addMomentary(name, Effect.sync(slice))
  )

const withContent = (slice: () => Partial<ContentState>) =>
  Effect.zipRight(
    Effect.flatMap(Effect.map(ControllerState, pluginsOf), ({ addReport }) =>
      Effect.zipRight(
        addReport("content", pluginReport("content", { failingFor: "15 minutes" })),
        setSlice("content", () => content(slice()))
      )
    ),
    register(
      "content.versions",
      Effect.sync(() => versionsReport(slice()))
    )
  )

const word = (index: number) =>
  ["Atrium", "Whale Hall", "Meteorites", "Small Mammals", "Treasures", "Entrance", "Ocean", "Fossils"][
    index % 8
  ]

const playerCount = 40

const player = (index: number): Player => {
  const id = `${word(index)?.toLowerCase().replace(" ", "-")}-${String(index + 1).padStart(2, "0")}`
  return {
    vitrine: "0.1.0",
    sentAt: ago(3 * seconds),
    node: { id, label: `${word(index)} ${1 + Math.floor(index / 8)}` },
    host: id,
    runId: String(index),
    startTime: ago(upFor),
    versionId: versions.latest,
    activeSince: ago(2 * hours + 12 * minutes),
    freeDisk: 120 * 1024 ** 3,
    problems: [],
    screens: Array.from({ length: 1 + (index % 4) }, (_, screen) => ({
      id: `${id}-${screen + 1}`,
      label: ["North", "East", "South", "West"][screen] ?? id,
      word: "showing",
      since: ago(2 * hours),
      versionId: versions.latest
    })),
    warnings: [],
    heardAt: ago(3 * seconds),
    address: `10.0.4.${index + 10}`,
    clockOffset: 12
  }
}

/** Those of forty players that have a problem. */
const unwell = (): Readonly<Record<number, Partial<Player>>> => ({
  3: { heardAt: ago(14 * minutes) },
  9: {
    problems: [
      {
        code: "screen:hidden",
        severity: "error",
        subject: "whale-hall-10-1",
        text: "Screen North is hidden: close what is in front of its page, or show its window",
        since: ago(9 * minutes)
      }
    ],
    screens: [
      { id: "whale-hall-10-1", label: "North", word: "hidden", versionId: versions.latest },
      { id: "whale-hall-10-2", label: "East", word: "showing", versionId: versions.latest }
    ]
  },
  17: {
    problems: [
      {
        code: "content:failing",
        severity: "error",
        text: 'Fetches of "content" have failed since 2026-11-23T09:12:00.000Z: no space is left on the disk',
        since: ago(50 * minutes)
      }
    ],
    versionId: versions.older[0] ?? ""
  },
  20: { versionId: versions.older[0] ?? "", activeSince: ago(20 * hours) },
  26: { versionId: versions.older[0] ?? "", copiedPercent: 43 },
  33: { versionId: versions.older[0] ?? "", copiedPercent: 8 }
})

const reports = () =>
  Array.from({ length: playerCount }, (_, index) => ({ ...player(index), ...unwell()[index] }))

const hubIdentity: Identity = {
  node: { id: "hub", label: "Natural History, hub", role: "hub" },
  players: [
    ...reports().map(({ node }) => ({
      id: node.id,
      ...(node.label === undefined ? {} : { label: node.label })
    })),
    { id: "planetarium-01", label: "Planetarium foyer, the screen that nobody has mounted yet" }
  ]
}

const contentServer = (players: ReadonlyArray<Player>) =>
  ({
    kind: "content-server" as const,
    url: "http://0.0.0.0:8730",
    maxConnections: 1024,
    connections: 44,
    openResponses: 2,
    requests: 10_233,
    bytes: 8_123_456_789,
    ...(players.length === 0 ? {} : { players })
  }) satisfies ContentServerState

/** By their names. */
export const states = {
  well: state(
    room("Gallery 2"),
    withContent(() => ({ screens: showing() }))
  ),
  problems: state(
    room("Gallery 2"),
    Effect.zipRight(
      withContent(() => ({
        screens: [
          screen("left-wall"),
          screen("right-wall", { heardAt: ago(25 * minutes), until: ago(-5 * minutes) }),
          screen("touch-table", { visible: false, hiddenSince: ago(12 * minutes) }),
          screen("kiosk-entrance-0042", {
            problem: "film.mp4 cannot be played: MEDIA_ERR_DECODE",
            problemSince: ago(9 * minutes)
          })
        ],
        lastFetch: {
          timestamp: ago(2 * minutes),
          error: { name: "E", message: 'Source "exhibit": the table API cannot be reached (ENETUNREACH)' }
        },
        failingSince: ago(7 * minutes),
        nextFetch: { at: ago(-1 * minutes), isRetry: true }
      })),
      Effect.logWarning("The table API cannot be reached (ENETUNREACH); the next try is in a minute")
    )
  ),
  held: state(
    room("Gallery 2"),
    Effect.zipRight(
      setSlice("content-server", () => ({ ...contentServer([]), page: "http://127.0.0.1:8730/" })),
      withContent(() => ({
        screens: showing(),
        held: { since: ago(35 * minutes), by: "anna@desk", waiting: versions.waiting }
      }))
    )
  ),
  hub: state(
    hubIdentity,
    Effect.zipRight(
      withContent(() => ({})),
      setSlice("content-server", () => contentServer(reports()))
    )
  )
}
