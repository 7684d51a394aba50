/**
 * A hub and its players, each a controller in its own process and folder, and what each reports.
 */
import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as IpcClientSocket from "../../src/layers/control/IpcClientSocket.ts"
import { locateController } from "../../src/layers/control/runFolder.ts"
import type { IpcClient } from "../../src/services/IpcClient.ts"
import type { Problem } from "../../src/services/Problem.ts"
import type { ContentStatus, PlayerStatus, ScreenStatus } from "../../src/services/View.ts"
import { token } from "./fleet.ts"
import { runVitrine, type VitrineProcess } from "./vitrineProcess.ts"

const repository = fileURLToPath(new URL("../..", import.meta.url))

/** A hub with a table server in the same process, on loopback. */
const hubConfig = `import { content, contentServer, defineConfig, tableSource } from "vitrine"
import { tableServer } from "${repository}/scratchpad/table-server/tableServer.ts"
const { env } = process
export default defineConfig({
  ...(env.ALERTS === undefined ? {} : { alerts: { url: env.ALERTS, after: "1 second" } }),
  node: { id: "hub" },
  players: (env.PLAYERS ?? "").split(" ").filter((id) => id !== "").map((id) => ({ id })),
  plugins: [
    tableServer({ directory: "tables", port: Number(env.TABLES_PORT) }),
    content({
      fetchEvery: "1 second",
      sources: [
        tableSource({
          id: "museum",
          baseId: "appMuseum",
          apiKey: "any",
          endpointUrl: "http://127.0.0.1:" + env.TABLES_PORT,
          tables: ["Objects"]
        })
      ]
    }),
    contentServer({ host: env.HOST, port: Number(env.CONTENT_PORT), reports: { token: "${token}" }, site: "page" })
  ]
})
`

/** With a page for its screens. */
const playerConfig = `import { contentServer, defineConfig, httpTransport, replica } from "vitrine"
const { env } = process
export default defineConfig({
  ...(env.ALERTS === undefined ? {} : { alerts: { url: env.ALERTS, after: "1 second" } }),
  node: { id: env.ID },
  screens: (env.SCREENS ?? "").split(" ").filter((id) => id !== "").map((id) => ({ id })),
  plugins: [
    replica({
      from: env.HUB,
      pollEvery: "1 second",
      maxTimeout: 3000,
      report: { to: env.HUB, token: "${token}" },
      downloadPath: env.DOWNLOADS ?? "downloads"
    }),
    httpTransport({ port: Number(env.TRANSPORT_PORT ?? 0) }),
    contentServer({ port: Number(env.CONTENT_PORT ?? 0), downloadPath: env.DOWNLOADS ?? "downloads", site: "page" })
  ]
})
`

/** Of a screen, and of who looks at what waits. */
const pageWith = (client: "client" | "preview") => `<!doctype html>
<title>Screen</title>
<p></p>
<script src="/vitrine/${client}.global.js"></script>
<script>
  vitrine.connect({
    load: (version) => version.table("museum", "Objects"),
    show: (objects) => {
      if (window.fails) throw new Error("There is no room")
      document.querySelector("p").textContent = objects.map(({ title }) => title).join()
    }
  })
</script>
`

/** What a machine reports at some time. */
export interface View {
  readonly content: ContentStatus
  readonly problems: ReadonlyArray<Problem>
  readonly players: ReadonlyArray<PlayerStatus>
  readonly screens: ReadonlyArray<ScreenStatus>
}

export interface Machine {
  readonly name: string
  readonly folder: string
  /** Waits until it is ready. */
  readonly start: Effect.Effect<void>
  /** As a loss of power does. */
  readonly kill: Effect.Effect<void>
  /** As an operator does; waits for its end. */
  readonly stop: Effect.Effect<void>
  /** None while it does not run. */
  readonly view: Effect.Effect<Option.Option<View>>
}

export interface Place {
  /** What starts its programs, where they do not run beside the test. */
  readonly by?: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
}

/** What runs when the scope ends is killed. */
export const makeMachine = Effect.fnUntraced(function* (
  name: string,
  config: string,
  page: string,
  { by = [], env }: Place
) {
  const fs = yield* FileSystem.FileSystem
  const scope = yield* Effect.scope
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: `vitrine-${name}-` }))
  yield* fs.makeDirectory(`${folder}/node_modules`)
  yield* fs.symlink(repository, `${folder}/node_modules/vitrine`)
  yield* fs.writeFileString(`${folder}/vitrine.config.ts`, config)
  yield* fs.makeDirectory(`${folder}/page`)
  yield* fs.writeFileString(`${folder}/page/index.html`, page)
  const running = yield* Ref.make<Option.Option<VitrineProcess>>(Option.none())
  const { socket } = yield* locateController(folder)
  const { dispatch, view } = yield* IpcClientSocket.make(socket)

  const end = (signal: NodeJS.Signals): Effect.Effect<void> =>
    Effect.flatMap(
      Ref.getAndSet(running, Option.none()),
      Option.match({
        onNone: () => Effect.void,
        onSome: (process) => Effect.zipRight(process.signal(signal), Effect.asVoid(process.ended))
      })
    )

  return {
    name,
    folder,
    start: Effect.gen(function* () {
      const process = yield* runVitrine(["start"], { by, cwd: folder, env })
      yield* Ref.set(running, Option.some(process))
      yield* process.logged(/(Ready)$/m)
    }).pipe(Effect.provideService(Scope.Scope, scope)),
    kill: end("SIGKILL"),
    stop: end("SIGTERM"),
    view: Effect.map(
      view,
      ({ contents, players = [], problems, screens }): View => ({
        content: contents[0] ?? { name: "content" },
        problems,
        players,
        screens
      })
    ).pipe(Effect.option),
    /** Runs a command. */
    dispatch
  } satisfies Machine & Pick<typeof IpcClient.Service, "dispatch">
})

/** A hub with one table. */
export const makeHub = Effect.fnUntraced(function* (place: Place) {
  const fs = yield* FileSystem.FileSystem
  const machine = yield* makeMachine("hub", hubConfig, pageWith("preview"), place)
  const table = `${machine.folder}/tables/Objects.csv`
  yield* fs.makeDirectory(`${machine.folder}/tables`)
  const write = (title: string) =>
    Effect.zipRight(
      fs.writeFileString(`${table}.new`, `inventory,title\nA-1,${title}\n`),
      fs.rename(`${table}.new`, table)
    )
  yield* write("Astrolabe")
  return { ...machine, write: (title: string) => Effect.orDie(write(title)) }
})

export const makePlayer = (id: string, { env, ...place }: Place) =>
  makeMachine(id, playerConfig, pageWith("client"), { ...place, env: { ID: id, ...env } })

/** Waits until it holds of what the machine says, and returns after how many seconds. It fails with what that was if it does not in so many seconds. */
export const sees = (
  { name, view }: Pick<Machine, "name" | "view">,
  what: string,
  seconds: number,
  holds: (view: View) => boolean
) =>
  Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    const last = yield* Ref.make(Option.none<View>())
    yield* view.pipe(
      Effect.tap((view) => Ref.set(last, view)),
      Effect.repeat({ schedule: Schedule.spaced("200 millis"), until: Option.exists(holds) }),
      Effect.timeoutFail({ duration: `${seconds} seconds`, onTimeout: () => "late" as const }),
      Effect.catchAll(() =>
        Effect.flatMap(Ref.get(last), (view) =>
          Effect.dieMessage(`${name} does not say within ${seconds} s that ${what}: ${inShort(view)}`)
        )
      )
    )
    const took = ((yield* Clock.currentTimeMillis) - startedAt) / 1000
    yield* Effect.logDebug(`${name}: ${what}, after ${took} s of ${seconds}`)
    return took
  })

const inShort = Option.match({
  onNone: () => "it does not run",
  onSome: ({ content, players, problems, screens }: View) =>
    JSON.stringify({
      versionId: content.versionId,
      reports: content.reports,
      problems: problems.map(({ code, text }) => `${code}: ${text}`),
      players: players.map(({ id, lastReport, word }) => [id, word, lastReport?.versionId]),
      screens: screens.map(({ id, word }) => [id, word])
    })
})

export const hasProblem =
  (code: string, subject?: string) =>
  ({ problems }: View): boolean =>
    problems.some(
      (problem) => problem.code === code && (subject === undefined || problem.subject === subject)
    )

export const playerIs =
  (id: string, word: PlayerStatus["word"]) =>
  ({ players }: View): boolean =>
    players.some((player) => player.id === id && player.word === word)

export const screenIs =
  (id: string, word: ScreenStatus["word"]) =>
  ({ screens }: View): boolean =>
    screens.some((screen) => screen.id === id && screen.word === word)

/** As its last report says. */
export const reportedScreenIs =
  (player: string, id: string, word: ScreenStatus["word"]) =>
  ({ players }: View): boolean =>
    players.some(
      ({ id: found, lastReport }) =>
        found === player && lastReport?.screens.some((screen) => screen.id === id && screen.word === word)
    )
