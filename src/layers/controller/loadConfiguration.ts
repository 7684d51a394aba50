/**
 * Loads and checks the configuration file.
 */
import { lstatSync } from "node:fs"
import * as Module from "node:module"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Jiti from "jiti"
import { readPlainText } from "../../files/readPlainText.ts"
import { decodeOptions, expects, InvalidOptions, omittable } from "../../internal/Options.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { UnknownCommand } from "../../services/CommandBus.ts"
import type { Plugin } from "../../services/Plugin.ts"
import type { Identity } from "../../services/StatusSnapshot.ts"
import { type AlertConfig, AlertOptions } from "../alerts/AlertOptions.ts"
import type { Configuration } from "./Controller.ts"
import { ControllerServicesFailed, type CustomServices } from "./ControllerServices.ts"
import {
  type ExpectedConfig,
  identityOf,
  type NodeConfig,
  NodeOptions,
  type OpeningHoursConfig,
  OptionalHours,
  PlayersOptions,
  type ScreenConfig,
  ScreensOptions
} from "./identityOptions.ts"
import { ConfigurationUnusable } from "./locateConfiguration.ts"

const isPlugin = (value: unknown): value is Plugin =>
  Predicate.isRecord(value) &&
  Predicate.isString(value.name) &&
  Array.isArray(value.issues) &&
  Predicate.isFunction(value.setup)

const plugin = expects(Schema.declare(isPlugin), "a plugin, such as content({ … }) or httpTransport({ … })")

const isServices = (value: unknown): value is CustomServices => Layer.isLayer(value)

/**
 * The default export of a configuration file.
 *
 * @since 0.1.0
 * @category models
 */
export interface ConfigurationFile {
  /** This machine. Default the host. */
  readonly node?: NodeConfig | undefined

  /** The expected screens, at most 256. Default none. */
  readonly screens?: ReadonlyArray<ScreenConfig> | undefined

  /** The players that should report to this machine, at most 1,024. Default none. */
  readonly players?: ReadonlyArray<ExpectedConfig> | undefined

  /**
   * When the place is open. Outside these hours, a screen or player that is off or closed is no problem. Default always
   * open.
   */
  readonly hours?: OpeningHoursConfig | undefined

  /** Where problems are posted to. Default none. */
  readonly alerts?: AlertConfig | undefined

  /** The plugins, in the order of their setup. */
  readonly plugins: ReadonlyArray<Plugin>

  /**
   * A Layer of any of `EventBus`, `CommandBus`, `ReplayBacklog` and `ControllerState`. Combine several
   * with `Layer.mergeAll`. Default in memory.
   */
  readonly services?: CustomServices | undefined
}

/**
 * Checks the default export of a configuration file.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ConfigurationFile = Schema.Struct({
  node: omittable(expects(NodeOptions, 'an object, such as { id: "hall-3" }')),
  screens: omittable(ScreensOptions),
  players: omittable(PlayersOptions),
  hours: OptionalHours,
  alerts: omittable(expects(AlertOptions, 'an object, such as { url: "https://chat.example/hooks/…" }')),
  plugins: expects(Schema.Array(plugin), "an array of plugins"),
  services: omittable(
    expects(Schema.declare(isServices), "a Layer of effect 3, such as EventBusMemory.layer")
  )
})

const decode = decodeOptions("the configuration", ConfigurationFile)

export interface LoadedConfiguration extends Configuration {
  readonly file: string
  /** The text that was loaded: the file may have changed since. */
  readonly text: string
  readonly identity: Identity
  readonly alerts?: AlertOptions
  readonly services?: CustomServices
}

/**
 * Loads a configuration from its absolute path. Its imports of `vitrine` get the given module, so that its plugins
 * belong to this process, wherever the package is installed. A process that loads the file again must say so:
 * otherwise, its modules come from a cache.
 */
export const loadConfiguration = Effect.fn("loadConfiguration")(function* (
  file: string,
  vitrine: object,
  isAgain = false
) {
  const path = yield* Path.Path
  const unusable = (cause: unknown) =>
    new ConfigurationUnusable({
      path: file,
      detail: `it could not be loaded. ${tidy(messageOf(cause) + howToInstall(messageOf(cause)))}`,
      cause
    })
  const text = yield* Effect.mapError(readPlainText(file), unusable)
  const module = yield* Effect.tryPromise({
    try: async () =>
      (isAgain ? undefined : loadWithNode(file, text, vitrine)) ?? translate(file, text, vitrine, isAgain),
    catch: unusable
  })
  if (!Predicate.hasProperty(module, "default")) {
    return yield* new ConfigurationUnusable({
      path: file,
      detail: "it exports nothing by default. Write: export default defineConfig({ plugins: [ … ] })"
    })
  }
  const { hours, node, players, screens, ...others } = yield* Effect.mapError(
    decode(module.default),
    inFile(file)
  )
  const identity = yield* identityOf(node, screens, players, hours)
  const configuration: LoadedConfiguration = { file, text, cwd: path.dirname(file), identity, ...others }
  return configuration
})

interface Loaded {
  readonly format: string
  readonly source: string
  readonly shortCircuit: boolean
}

/** Missing in Node 20. */
const nodeModule: Pick<typeof Module, "createRequire"> & {
  readonly registerHooks?: (hooks: {
    readonly resolve: (
      name: string,
      context: object,
      next: (name: string, context: object) => { readonly url: string }
    ) => { readonly url: string }
    readonly load: (url: string, context: object, next: (url: string, context: object) => Loaded) => Loaded
  }) => void
} = Module

/**
 * Loads the module with Node alone, which runs TypeScript from version 22.18 on. `undefined` if Node cannot load it, for example if
 * it has an enum, or `__dirname`.
 */
const loadWithNode = (file: string, text: string, vitrine: object): unknown => {
  const { registerHooks } = nodeModule
  if (
    registerHooks === undefined ||
    !Predicate.hasProperty(process.features, "typescript") ||
    process.features.typescript === false
  ) {
    return undefined
  }
  const library = `vitrine:${file}`
  const url = pathToFileURL(file).href
  Object.assign(globalThis, { [Symbol.for(library)]: vitrine })
  const sources = new Map<string, Omit<Loaded, "shortCircuit">>([
    [url, { format: file.endsWith("ts") ? "module-typescript" : "module", source: text }],
    [
      library,
      {
        format: "module",
        source: `export const { ${Object.keys(vitrine)} } = globalThis[Symbol.for(${JSON.stringify(library)})]`
      }
    ]
  ])
  // They stay: a function of the configuration may import a module later.
  registerHooks({
    resolve: (name, context, next) =>
      name === "vitrine" || name === file
        ? { url: name === file ? url : library, shortCircuit: true }
        : next(name, context),
    load: (url, context, next) => {
      const own = sources.get(url)
      return own === undefined ? next(url, context) : { ...own, shortCircuit: true }
    }
  })
  try {
    return require(file)
  } catch {
    return undefined
  }
}

const require = Module.createRequire(import.meta.url)

/** Translates the module and its imports. Translations are kept beside the socket, because each takes a quarter of the time of a short command. */
const translate = (file: string, text: string, vitrine: object, isAgain: boolean): unknown => {
  // Node reads CommonJS twice if it is imported instead of required: the start would take a tenth longer.
  const { createJiti }: typeof Jiti = require("jiti")
  // Always translated: an import by Node itself would find a package of that name in `node_modules` instead of the given module.
  // By default, jiti caches in the shared temporary folder, where other users read and write.
  const folder = join(dirname(file), ".vitrine")
  return createJiti(import.meta.url, {
    fsCache: isPrivate(folder) && join(folder, "translated"),
    interopDefault: false,
    moduleCache: !isAgain,
    virtualModules: { vitrine }
  }).evalModule(text, { filename: file, async: true, forceTranspile: true })
}

/** Whether a controller has made the folder, for its user alone. */
const isPrivate = (folder: string): boolean => {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return (
    found?.isDirectory() === true &&
    (process.platform === "win32" || (found.uid === process.getuid?.() && (found.mode & 0o077) === 0))
  )
}

/** Packages that only some configurations need, by the beginning of the missing module's name. */
const optionalPackages = [
  [/^(effect|@effect\/platform(-node)?)(\/|$)/, "effect@3 @effect/platform@0 @effect/platform-node@0"],
  [/^@nats-io\//, "@nats-io/transport-node@3 @nats-io/jetstream@3"]
] as const

const howToInstall = (message: string): string => {
  const [, missing = ""] = /^Cannot find (?:module|package) '([^']+)'/.exec(message) ?? []
  const [, packages] = optionalPackages.find(([names]) => names.test(missing)) ?? []
  return packages === undefined ? "" : `\nInstall it: npm install ${packages}`
}

/** Messages of parsers have odd indentation and invisible line ends. */
const tidy = (message: string) =>
  message
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n  ")

/** Adds the file to mistakes in the configuration. Other errors stay unchanged. */
export const inFile =
  (file: string) =>
  <E>(error: E): E | ConfigurationUnusable =>
    error instanceof InvalidOptions ||
    error instanceof UnknownCommand ||
    error instanceof ControllerServicesFailed
      ? new ConfigurationUnusable({ path: file, detail: error.message, cause: error })
      : error
