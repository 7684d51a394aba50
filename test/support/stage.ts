/**
 * A page built on `vitrine/client`, and a controller's servers for it: versions that the test promotes, with a number that
 * is in the table and is the width of the picture.
 */
import { mkdirSync, renameSync, writeFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import type { Page } from "playwright-core"
import * as ContentServerLayer from "../../src/layers/contentServer/ContentServer.ts"
import * as HttpTransportLayer from "../../src/layers/httpTransport/HttpTransport.ts"
import type { HttpTransportConfig } from "../../src/layers/httpTransport/HttpTransportOptions.ts"
import type { AckAnswer } from "../../src/services/AskedScreen.ts"
import { CommandBus } from "../../src/services/CommandBus.ts"
import { openTab } from "./browser.ts"
import * as server from "./contentServer.ts"
import { sha256 } from "./sha256.ts"
import * as transport from "./transport.ts"

/** Draws the numbers of the table and of the picture, and keeps what it has drawn. Options are in its address. */
const page = `<!doctype html>
<title>Stage</title>
<p></p>
<script src="/vitrine/client.global.js"></script>
<script>
  const { files = [], ...options } = JSON.parse(decodeURIComponent(location.hash.slice(1) || "{}"))
  const drawn = []
  let isIdle = true
  const exhibit = vitrine.connect({
    pollEvery: 200,
    consumerId: location.search ? undefined : "screen-1",
    canSwap: () => isIdle,
    load: async (version) => {
      const [{ number }] = await version.table("exhibits", "Objects")
      const pictures = await version.preload(
        ["picture.svg", ...files].map((file) => version.url("exhibits", file))
      )
      return { number, pictures }
    },
    show: ({ number, pictures }, { id }) => {
      document.body.replaceChildren(...pictures)
      document.body.dataset.number = number
      drawn.push([id, number, pictures[0].naturalWidth])
    },
    ...options
  })
</script>
`

export interface Ack {
  readonly consumerId: string
  readonly versionId: string
  readonly problem?: string
  readonly renewMs?: number
  readonly visible?: boolean
  readonly drawing?: boolean
  readonly closing?: boolean
  readonly done?: ReadonlyArray<string>
  readonly runId?: string
  readonly navigated?: boolean
}

const flag = Schema.optionalWith(Schema.Boolean, { exact: true })

const AckFields = Schema.Struct({
  consumerId: Schema.String,
  versionId: Schema.String,
  problem: Schema.optionalWith(Schema.String, { exact: true }),
  renewMs: Schema.optionalWith(Schema.Number, { exact: true }),
  visible: flag,
  drawing: flag,
  closing: flag,
  done: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }),
  runId: Schema.optionalWith(Schema.String, { exact: true }),
  navigated: flag
})

/** The id of a version by its number: so many seconds after midnight, for it must be a time. */
export const idOf = (number: number) =>
  new Date(Date.UTC(2026, 10, 21, 0, 0, number)).toISOString().replace(/-|:|\.\d+/g, "")

/** A picture of this width. */
export const drawing = (width: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="10"><rect width="9" height="9"/></svg>`

/** A stage that is empty and dark: nothing is promoted, no server runs. */
export const makeStageWith = Effect.fnUntraced(function* (page: string) {
  const scope = yield* Effect.scope
  const folder = yield* server.makeFolder
  const downloads = `${folder}/downloads`
  const acks: Array<Ack> = []
  /** What the next acks are answered; nothing behind these. */
  const answers: Array<AckAnswer> = []
  yield* server.writeFile(`${folder}/page/index.html`, page)

  /** Starts both servers; on the ports of those before, where these are given. */
  const start = (options: HttpTransportConfig = {}, contentPort = 0) =>
    Effect.gen(function* () {
      const life = yield* Scope.fork(scope, ExecutionStrategy.sequential)
      const services = yield* Layer.buildWithScope(
        ContentServerLayer.layer({ downloadPath: downloads, port: contentPort, site: `${folder}/page` }).pipe(
          Layer.provideMerge(HttpTransportLayer.layer({ port: 0, ...options })),
          Layer.provideMerge(server.environment)
        ),
        life
      )
      const commands = Effect.flatMap(CommandBus, ({ register }) =>
        register({
          type: "content.ack",
          fields: AckFields,
          run: (ack) =>
            Effect.sync(() => {
              acks.push(ack)
              return answers.shift()
            })
        })
      )
      yield* commands.pipe(Scope.extend(life), Effect.provide(services))
      const port = yield* Effect.provide(server.port, services)
      return {
        services,
        port,
        url: `http://127.0.0.1:${port}/`,
        transportPort: yield* Effect.provide(transport.port, services),
        stop: Scope.close(life, Exit.void),
        /** Says that a version was promoted, as the controller does. */
        announce: Effect.provide(transport.publish("content:version:promoted", {}), services),
        /** Says that a screen is asked for something, as the controller does. */
        ask: (screen: string) =>
          Effect.provide(transport.publish("content:screen:asked", { screen, action: "reload" }), services),
        clientsBecome: (count: number) => Effect.provide(transport.clientsBecome(count), services)
      }
    })

  /** Makes a version with this number the active one; an older one too. As fast as a thousand of them need it. */
  const promote = (number: number, more: server.Files = {}) =>
    Effect.sync(() => {
      const versionId = idOf(number)
      const files = {
        "Objects.json": JSON.stringify([{ id: "rec1", number }]),
        "picture.svg": drawing(number),
        ...more
      }
      const version = `${downloads}/versions/${versionId}`
      mkdirSync(`${version}/exhibits`, { recursive: true })
      for (const [path, content] of Object.entries(files)) {
        writeFileSync(`${version}/exhibits/${path}`, content)
      }
      const list = server.fileListOf(files, versionId)
      const text = JSON.stringify(list)
      writeFileSync(`${version}/files.json`, text)
      const sources = [{ sourceId: "exhibits", path: "exhibits" }]
      // Two within one tick of the file system's clock must not look alike.
      const padding = "x".repeat(number % 97)
      const manifest = {
        ...list,
        versionPath: `versions/${versionId}`,
        sources,
        filesSha256: sha256(text),
        padding
      }
      writeFileSync(`${downloads}/manifest.json.new`, JSON.stringify(manifest))
      renameSync(`${downloads}/manifest.json.new`, `${downloads}/manifest.json`)
    })

  return { acks, answers, downloads, promote, start }
})

/** With the page above. */
export const makeStage = makeStageWith(page)

/** A tab that shows the page; options of `connect` are in the address, beside the names of more files to load. */
export const openStage = (url: string, options: object = {}) =>
  openTab(`${url}#${encodeURIComponent(JSON.stringify(options))}`)

export const evaluate = (tab: Page, expression: string) =>
  Effect.promise((): Promise<unknown> => tab.evaluate(expression))

/** A session of the browser's own protocol with a tab. */
export const sessionOf = (tab: Page) => Effect.promise(() => tab.context().newCDPSession(tab))

/** What is alive in a tab, after garbage was collected. */
export const memoryOf = (tab: Page) =>
  Effect.map(sessionOf(tab), (session) =>
    Effect.promise(async () => {
      await session.send("HeapProfiler.collectGarbage")
      const { jsEventListeners, nodes } = await session.send("Memory.getDOMCounters")
      const { usedSize } = await session.send("Runtime.getHeapUsage")
      return { listeners: jsEventListeners, nodes, heap: usedSize }
    })
  )

export const waitFor = (tab: Page, condition: string) =>
  Effect.promise(() => tab.waitForFunction(condition, undefined, { polling: 20 }))

/** Waits until the version with this number is on the screen. */
export const shows = (tab: Page, number: number) =>
  waitFor(tab, `document.body.dataset.number === "${number}"`)

/** A page that shows version 1. */
export const makeShowing = Effect.fnUntraced(function* (options: object = {}) {
  const stage = yield* makeStage
  const servers = yield* stage.start()
  yield* stage.promote(1)
  const tab = yield* openStage(servers.url, options)
  yield* shows(tab, 1)
  return { ...stage, servers, tab }
})

/** What the page has drawn. */
export const drawn = (tab: Page) => Effect.map(evaluate(tab, "drawn"), Schema.decodeUnknownSync(Drawn))

/** Version, number in the table, number in the picture. */
const Drawn = Schema.Array(Schema.Tuple(Schema.String, Schema.Number, Schema.Number))
