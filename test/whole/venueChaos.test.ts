/**
 * A hub, replicas, a broker and screens on it, of which one after the other is killed, suspended or cut off while versions
 * are promoted. `VENUE_CHAOS_SECONDS` says for how long in all, `VENUE_CHAOS_SEED` repeats a schedule.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { EventSource } from "eventsource"
import { Manifest } from "../../src/services/VersionStore.ts"
import { type FlakyLine, openFlakyLine } from "../support/flakyLine.ts"
import { startNatsServer } from "../support/natsServer.ts"
import { isMissing } from "../support/programs.ts"
import { makeProject, transportUrl } from "../support/project.ts"
import { startVersionReader } from "../support/versionReader.ts"
import { runVitrine, type VitrineProcess } from "../support/vitrineProcess.ts"

const { VENUE_CHAOS_SECONDS, VENUE_CHAOS_SEED } = process.env
/** How long each of the two venues runs. */
const seconds = Number(VENUE_CHAOS_SECONDS ?? 120) / 2
const seed = VENUE_CHAOS_SEED ?? String(Date.now())

const pictures = 12

/** How often the hub fetches, and how often replicas look, in milliseconds. */
const interval = 1000

/**
 * The longest pause of a replica whose last copy was made so many milliseconds ago: pauses double while looks fail, up to a
 * minute, and all those before it, up to a fifth shorter, are over.
 */
const pauseAfter = (sinceCopy: number): number => Math.min(sinceCopy / 0.8 + interval, 60_000)

/** What fetching, copying and connecting may take beside the pauses, on a busy machine. */
const workTime = 15_000

const hubConfig = `import { content, contentServer, defineConfig, tableSource } from "vitrine"
const { env } = process
export default defineConfig({
  plugins: [
    content({
      fetchEvery: ${interval},
      keepVersions: 20,
      sources: [
        tableSource({ id: "museum", baseId: "appMuseum", apiKey: "any", endpointUrl: env.TABLES, tables: ["Objects"] })
      ]
    }),
    contentServer({ port: 0 })
  ],
  ...(env.NATS === undefined ? {} : { services: (await import("vitrine/nats")).services({ servers: env.NATS }) })
})
`

const replicaConfig = `import { defineConfig, replica } from "vitrine"
export default defineConfig({
  plugins: [replica({ from: process.env.HUB, pollEvery: ${interval}, maxTimeout: 2000, keepVersions: 20 })]
})
`

const screensConfig = `import { defineConfig, httpTransport } from "vitrine"
import * as nats from "vitrine/nats"
export default defineConfig({
  plugins: [httpTransport({ port: 0 })],
  services: nats.services({ servers: process.env.NATS })
})
`

interface Fault {
  readonly name: string
  readonly begin: Effect.Effect<void>
  readonly end: Effect.Effect<void>
}

/** A program that can be started again in its folder. `ready` gives where it listens, or something else that it logs. */
const makeMachine = Effect.fnUntraced(function* (
  name: string,
  folder: string,
  config: string,
  env: Readonly<Record<string, string>>,
  ready: (process: VitrineProcess) => Effect.Effect<void>
) {
  const fs = yield* FileSystem.FileSystem
  const scope = yield* Effect.scope
  yield* fs.makeDirectory(folder)
  yield* fs.writeFileString(`${folder}/vitrine.config.ts`, config)
  let running: VitrineProcess | undefined
  const start = Effect.gen(function* () {
    running = yield* runVitrine(["start"], { cwd: folder, env })
    yield* ready(running)
  }).pipe(Effect.provideService(Scope.Scope, scope))
  const signal = (name: NodeJS.Signals) => Effect.suspend(() => running?.signal(name) ?? Effect.void)
  yield* start
  const faults: ReadonlyArray<Fault> = [
    { name: `${name} killed`, begin: signal("SIGKILL"), end: start },
    { name: `${name} suspended`, begin: signal("SIGSTOP"), end: signal("SIGCONT") }
  ]
  return { downloads: `${folder}/downloads`, faults }
})

const faultsOf = (name: string, line: FlakyLine): ReadonlyArray<Fault> =>
  (["cut", "silent"] as const).map((condition) => ({
    name: `${name} ${condition}`,
    begin: Effect.sync(() => line.set(condition)),
    end: Effect.sync(() => line.set("open"))
  }))

const decodeManifest = Schema.decode(Schema.parseJson(Manifest))

const survive = (withBroker: boolean) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { folder, serveTables } = yield* makeProject
    const tables = yield* serveTables({ rateLimit: false })
    const url = (port: number) => `http://127.0.0.1:${port}`

    /** Writes a table and a picture of this edition, the picture first. */
    const edit = Effect.fnUntraced(function* (edition: number) {
      const names = Array.makeBy(pictures, (index) => `${index}.jpg`)
      const changed = edition === 0 ? names : names.filter((_, index) => index === edition % pictures)
      for (const name of changed) {
        const content = Buffer.alloc(20_000 + edition, `\0${name} of edition ${edition}, `)
        yield* fs.writeFile(`${folder}/tables/.next`, content)
        yield* fs.rename(`${folder}/tables/.next`, `${folder}/tables/${name}`)
      }
      const records = [
        { id: "rec00000000000001", fields: { edition, pictures: names.map((file) => ({ file })) } }
      ]
      yield* fs.writeFileString(`${folder}/tables/.next`, JSON.stringify({ records }))
      yield* fs.rename(`${folder}/tables/.next`, `${folder}/tables/Objects.json`)
    })
    yield* fs.remove(`${folder}/tables/Objects.csv`)
    yield* edit(0)

    const toHub = yield* Effect.all([openFlakyLine(), openFlakyLine()])
    const faults: Array<Fault> = toHub.flatMap((line, index) => faultsOf(`line of replica ${index}`, line))
    const toScreens = yield* openFlakyLine()
    let shown = ""

    const env: Record<string, string> = { TABLES: tables }
    if (withBroker) {
      const broker = yield* startNatsServer()
      const line = yield* openFlakyLine(Number(new URL(broker.url).port))
      env.NATS = `nats://127.0.0.1:${line.port}`
      faults.push(
        ...faultsOf("line of the broker", line),
        { name: "broker killed", begin: broker.signal("SIGKILL"), end: broker.start },
        { name: "broker suspended", begin: broker.signal("SIGSTOP"), end: broker.signal("SIGCONT") }
      )
    }
    const hub = yield* makeMachine("hub", `${folder}/hub`, hubConfig, env, ({ logged }) =>
      Effect.map(logged(/Content server on http:\S+:(\d+)/), (port) => {
        for (const line of toHub) line.leadTo(Number(port))
      })
    )
    const replicas = yield* Effect.forEach(toHub, ({ port }, index) =>
      makeMachine(
        `replica ${index}`,
        `${folder}/replica-${index}`,
        replicaConfig,
        { HUB: url(port) },
        () => Effect.void
      )
    )
    if (withBroker) {
      const screens = yield* makeMachine("screens", `${folder}/screens`, screensConfig, env, ({ logged }) =>
        Effect.map(logged(transportUrl), (address) => toScreens.leadTo(Number(new URL(address).port)))
      )
      faults.push(...screens.faults, ...faultsOf("line of the screens", toScreens))
      const events = yield* Effect.acquireRelease(
        Effect.sync(() => new EventSource(`${url(toScreens.port)}/events`)),
        (events) => Effect.sync(() => events.close())
      )
      events.addEventListener("content:version:promoted", ({ data }) => {
        shown = JSON.parse(data).versionId
      })
    }
    const machines = [hub, ...replicas]
    faults.push(...machines.flatMap(({ faults }) => faults))

    const readActive = ({ downloads }: { readonly downloads: string }) =>
      Effect.flatMap(fs.readFileString(`${downloads}/manifest.json`), decodeManifest)
    const editionOf = Effect.flatMap(readActive(hub), ({ versionPath }) =>
      fs.readFileString(`${hub.downloads}/${versionPath}/museum/Objects.json`)
    ).pipe(Effect.map((text) => Number(/"edition":\s*(\d+)/.exec(text)?.[1])))
    /** Whether all machines show this edition, and the screens have been told of it. */
    const areAt = (edition: number) =>
      Effect.gen(function* () {
        const { versionId } = yield* readActive(hub)
        const shownBy = yield* Effect.forEach(replicas, readActive)
        return (
          (yield* editionOf) === edition &&
          shownBy.every((manifest) => manifest.versionId === versionId) &&
          (!withBroker || shown === versionId)
        )
      }).pipe(Effect.orElseSucceed(() => false))
    const untilAt = (edition: number) =>
      Effect.repeat(areAt(edition), { until: (holds) => holds, schedule: Schedule.spaced("50 millis") }).pipe(
        Effect.timeout("2 minutes"),
        Effect.timed,
        Effect.map(([waited]) => Duration.toMillis(waited))
      )
    /** Since the replica that has not made a copy for longest has made one. */
    const sinceCopy = Effect.gen(function* () {
      const files = yield* Effect.forEach(replicas, ({ downloads }) => fs.stat(`${downloads}/manifest.json`))
      const copied = Array.getSomes(files.map(({ mtime }) => mtime))
      return (yield* Clock.currentTimeMillis) - Math.min(...copied.map(Number))
    })

    yield* untilAt(0)
    const stopReading = yield* startVersionReader(machines.map(({ downloads }) => downloads))
    let edition = 0
    const editing = yield* Effect.fork(
      Effect.forever(
        Effect.zipRight(
          Effect.suspend(() => edit(++edition)),
          Effect.sleep("500 millis")
        )
      )
    )
    const ended: Array<string> = []
    const end = (yield* Clock.currentTimeMillis) + seconds * 1000
    while ((yield* Clock.currentTimeMillis) < end) {
      // Each comes once before any comes again.
      for (const fault of yield* Random.shuffle(faults)) {
        yield* fault.begin
        yield* Effect.sleep(yield* Random.nextIntBetween(100, 3000))
        yield* fault.end
        ended.push(fault.name)
        if ((yield* Clock.currentTimeMillis) >= end) break
        yield* Effect.sleep(yield* Random.nextIntBetween(0, 1500))
      }
    }
    yield* Fiber.interrupt(editing)
    const pause = pauseAfter(yield* sinceCopy)
    yield* edit(++edition)
    const recovery = yield* untilAt(edition)
    yield* edit(++edition)
    const change = yield* untilAt(edition)
    const seen = yield* stopReading
    return { seed, edition, faults: ended.length, lastFault: ended.at(-1), pause, recovery, change, ...seen }
  })

const timeLimit = (seconds + 240) * 1000

const prove = (withBroker: boolean) =>
  Effect.gen(function* () {
    const seen = yield* survive(withBroker)
    console.info(JSON.stringify(seen))
    expect(seen.wrong).toEqual([])
    expect(seen.recovery).toBeLessThan(interval + seen.pause + workTime)
    // Nothing is away any more: a change takes one fetch of the hub and one look.
    expect(seen.change).toBeLessThan(2 * interval + workTime)
    for (const { passes, versions } of seen.machines) {
      expect(passes).toBeGreaterThan(1)
      expect(versions).toBeGreaterThan(1)
    }
  }).pipe(Effect.withRandom(Random.make(seed)), Effect.scoped, Effect.provide(NodeContext.layer))

describe("a venue in which one after the other is killed, suspended and cut off", () => {
  it.live(
    "shows only complete versions, and soon the newest on all machines",
    ({ annotate }) =>
      Effect.zipRight(
        Effect.promise(() => annotate(`VENUE_CHAOS_SEED=${seed}`)),
        prove(false)
      ),
    timeLimit
  )

  it.live.skipIf(isMissing("nats-server"))(
    "does the same with a broker, which announces the newest version to its screens",
    ({ annotate }) =>
      Effect.zipRight(
        Effect.promise(() => annotate(`VENUE_CHAOS_SEED=${seed}`)),
        prove(true)
      ),
    timeLimit
  )
})
