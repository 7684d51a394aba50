/**
 * The content server: serves a downloads folder over HTTP, for screens, other controllers and caches, and a page beside it.
 */

import { resolve } from "node:path"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { findPrivate, withPrivate } from "../../files/privateFiles.ts"
import { closedIfFailed } from "../../internal/background.ts"
import { now } from "../../internal/monotonicMillis.ts"
import { decodeOptions, InvalidOptions, issuesOf } from "../../internal/Options.ts"
import { repeatAfter, withTimeout } from "../../internal/Schedules.ts"
import type { CommandBus } from "../../services/CommandBus.ts"
import { ContentServer, HasDevServer } from "../../services/ContentServer.ts"
import { BaseFolder } from "../../services/ContentSource.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import type { Plugin } from "../../services/Plugin.ts"
import type { ContentServerState } from "../../services/Slices.ts"
import * as Reports from "../fleet/Reports.ts"
import * as Application from "../http/Application.ts"
import * as ConnectionLimit from "../http/ConnectionLimit.ts"
import { methodNotAllowed } from "../http/errors.ts"
import { type BindError, isEverywhere, listen, urlOf } from "../http/Listen.ts"
import { refuseHost } from "../http/RequestHead.ts"
import { type ContentServerConfig, ContentServerOptions } from "./ContentServerOptions.ts"
import * as PictureRoutes from "./PictureRoutes.ts"
import { makeRecorder, pluginReport } from "./pluginReport.ts"
import * as Resources from "./Resources.ts"
import * as Routes from "./Routes.ts"

export type { ContentServerStatistics } from "../../services/ContentServer.ts"
export type { ContentServerConfig }
export { ContentServer }

const decode = decodeOptions(
  "the options of the content server",
  ContentServerOptions.pipe(
    Schema.filter(({ pictures, reports }) =>
      pictures !== undefined && Equal.equals(pictures.token, reports?.token)
        ? { path: ["pictures", "token"], message: 'expected another token than that of "reports"' }
        : undefined
    )
  )
)

/** The name of the plugin, of its slice of the state and of its status section. */
const nameOf = ({ content }: Pick<ContentServerOptions, "content">): string => `${content}-server`

/**
 * The services that the server needs.
 *
 * @since 0.1.0
 * @category models
 */
export type Environment = CommandBus | ControllerState | EventBus | FileSystem.FileSystem | Path.Path

/**
 * The server with the given options. Options are validated in every mode; in task mode nothing is bound.
 *
 * A response uses at most about 256 KiB of memory, for a file of any size. A response that stalls for 30 seconds is ended.
 * The server ends within two seconds, and no client can delay it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: ContentServerConfig = {}
): Layer.Layer<ContentServer, InvalidOptions | BindError, Environment> =>
  Layer.scoped(ContentServer, make(options))

/**
 * As `layer`, with options from the environment: `{ port: Config.integer("CONTENT_PORT") }`, for example.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<ContentServerConfig>
): Layer.Layer<ContentServer, ConfigError | InvalidOptions | BindError, Environment> =>
  Layer.scoped(ContentServer, Effect.flatMap(Config.unwrap(options), make))

/**
 * As `layer`, but without a layer. After a failure it can be called again.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  config: ContentServerConfig = {}
): Effect.Effect<typeof ContentServer.Service, InvalidOptions | BindError, Environment | Scope.Scope> =>
  Effect.flatMap(decode(config), (options) => closedIfFailed(fromOptions(options)))

/** As `make`, with decoded options. @internal */
export const fromOptions = Effect.fnUntraced(function* (options: ContentServerOptions) {
  const { mode, register } = yield* ControllerState
  const recorder = makeRecorder()
  if (mode === "task") {
    return ContentServer.of({ address: Option.none(), statistics: Effect.succeed(recorder.statistics(0)) })
  }

  yield* checkSite(options)
  const connections = ConnectionLimit.make(
    options.maxConnections,
    'Try again later, or raise "maxConnections" of the content server.'
  )
  const reports =
    options.reports === undefined ? undefined : yield* Reports.make({ ...options, reports: options.reports })
  const pictures = yield* makePictures(options)
  const find = yield* Resources.make(options)
  const server = yield* Application.make({
    routes: [
      ...(yield* Routes.make(options.content, find, 2 * options.maxConnections)),
      ...(reports?.routes ?? []),
      ...pictures.routes
    ],
    refuse: ({ headers }) => refuseHost(options.allowedHosts, headers.host, "the content server"),
    connections,
    headers: () => ({ ...Routes.everyResponse, "Cache-Control": "no-store" }),
    preflight: Routes.preflight,
    otherwise: ({ method }) => methodNotAllowed(method),
    onRequest: ({ socket }, response) => {
      const ended = recorder.begin()
      const before = socket.bytesWritten
      response.once("close", () => ended(socket.bytesWritten - before))
    }
  })
  const address = yield* listen(server, { ...options, beforeDrain: pictures.close })

  const url = urlOf(options.host, address.port)
  const page = options.site === undefined || (yield* HasDevServer) ? undefined : `${url}/`
  yield* Effect.logInfo(
    `Content server on ${url}: ${page === undefined ? "" : `page at ${page}, `}manifest at ${url}/manifest.json`
  )
  const pageProblem = yield* page === undefined ? Effect.succeed(Effect.succeed(undefined)) : watchPage(find)
  const statistics = Effect.sync(() => recorder.statistics(connections.open()))
  const name = nameOf(options)
  yield* register({
    name,
    report: pluginReport(name),
    live: Effect.gen(function* () {
      return {
        kind: "content-server",
        url,
        maxConnections: options.maxConnections,
        ...(yield* statistics),
        everywhere: isEverywhere(options.host) || undefined,
        page,
        pageProblem: yield* pageProblem,
        players: reports && (yield* reports.players)
      } satisfies ContentServerState
    })
  })
  return ContentServer.of({ address: Option.some(address), statistics })
})

/** Looks in the background, because a disk may hang. Gives since when and why nobody can open the page, if the content is there. */
const watchPage = Effect.fnUntraced(function* (find: Resources.Find) {
  const problem = yield* Ref.make<ContentServerState["pageProblem"]>(undefined)
  const open = (path: string) => find(path, { host: undefined, version: "" })
  const look = Effect.gen(function* () {
    yield* open("/manifest.json")
    const { wall } = yield* now
    yield* Effect.matchEffect(open("/"), {
      onFailure: ({ message }) =>
        Ref.update(problem, (before) => ({ since: before?.since ?? new Date(wall).toISOString(), message })),
      onSuccess: () => Ref.set(problem, undefined)
    })
  })
  yield* Effect.forkScoped(repeatAfter("15 seconds")(Effect.ignore(look)))
  return Ref.get(problem)
})

/** Without the option, there are no routes for pictures. */
const makePictures = ({ pictures }: ContentServerOptions) =>
  pictures === undefined
    ? Effect.succeed({ routes: [], close: Effect.void })
    : PictureRoutes.make(pictures.token)

/** Refuses a page folder with private files: everybody who reaches the port can read the folder. */
const checkSite = Effect.fnUntraced(function* ({ downloadPath, site }: ContentServerOptions) {
  if (!Predicate.isString(site)) return
  const refusal = (message: string) =>
    new InvalidOptions({ subject: "the options of the content server", issues: [{ path: "site", message }] })
  const found = yield* withPrivate(downloadPath)(findPrivate(site, yield* BaseFolder)).pipe(
    withTimeout("30 seconds", () =>
      refusal(`${site} has not responded for 30 seconds. Is its disk or network share connected?`)
    )
  )
  if (Option.isSome(found)) {
    return yield* refusal(
      `${found.value} is in this folder, and everybody who reaches the port could read it. Keep the page in its own folder, such as "site".`
    )
  }
})

/**
 * Serves the downloads folder over HTTP, and a page beside it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const contentServer = (config: ContentServerConfig = {}): Plugin => {
  const options = decode(config)
  return {
    name: Either.match(options, { onLeft: () => "content-server", onRight: nameOf }),
    issues: issuesOf(options),
    setup: ({ cwd }) =>
      Effect.gen(function* () {
        const { downloadPath, ...serving } = yield* options
        yield* fromOptions({
          ...serving,
          downloadPath: resolve(cwd, downloadPath),
          ...(Predicate.isString(serving.site) && { site: resolve(cwd, serving.site) })
        }).pipe(Effect.provideService(BaseFolder, cwd))
        return Effect.void
      })
  }
}
