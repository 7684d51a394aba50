/**
 * The store of versions in a folder of this machine.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as DownloadsFolder from "../../files/DownloadsFolder.ts"
import { isPlainFileName } from "../../files/fileName.ts"
import { withoutParentSpan } from "../../internal/background.ts"
import { decodeOptions, expects, type InvalidOptions, optional } from "../../internal/Options.ts"
import { duration } from "../../internal/optionSchemas.ts"
import {
  type AckDetails,
  type DownloadsInUse,
  InvalidConsumerId,
  VersionStore,
  type VersionStoreError
} from "../../services/VersionStore.ts"
import * as Leases from "../leases/Leases.ts"
import * as Hold from "./Hold.ts"
import * as ManifestFile from "./ManifestFile.ts"
import * as Retention from "./Retention.ts"
import { stageCopy } from "./stageCopy.ts"
import { stage } from "./staging.ts"
import * as VersionFolders from "./VersionFolders.ts"
import { verify } from "./verify.ts"

/** @internal */
export const folder = expects(Schema.NonEmptyString, "the path of a folder")

/** The options that the content plugin has too. @internal */
export const retentionOptions = {
  keepVersions: optional(expects(Schema.Int.pipe(Schema.between(1, 1000)), "an integer from 1 to 1000"), 3),
  ackLease: optional(duration, "30 minutes"),
  release: optional(expects(Schema.Literal("at once", "by hand"), '"at once" or "by hand"'), "at once")
}

const VersionStoreDiskOptions = Schema.Struct({
  /** The downloads folder; made if it is missing. */
  directory: folder,
  /** As in the content plugin. */
  ...retentionOptions
})
type VersionStoreDiskOptions = typeof VersionStoreDiskOptions.Type

/**
 * The options of the store.
 *
 * @since 0.1.0
 * @category models
 */
export type VersionStoreDiskConfig = typeof VersionStoreDiskOptions.Encoded

const decode = decodeOptions("the options of the store of versions", VersionStoreDiskOptions)

/**
 * The versions in a folder. No other controller can use the folder while the layer lives.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  config: VersionStoreDiskConfig
): Layer.Layer<
  VersionStore,
  InvalidOptions | VersionStoreError | DownloadsInUse,
  FileSystem.FileSystem | Path.Path
> => Layer.scoped(VersionStore, make(config))

/**
 * As `layer`, with options from the environment: `{ directory: Config.string("DOWNLOADS"), … }`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  config: Config.Config.Wrap<VersionStoreDiskConfig>
): Layer.Layer<
  VersionStore,
  InvalidOptions | VersionStoreError | DownloadsInUse | ConfigError,
  FileSystem.FileSystem | Path.Path
> => Layer.scoped(VersionStore, Effect.flatMap(Config.unwrap(config), make))

/**
 * As `layer`, without a layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  config: VersionStoreDiskConfig
): Effect.Effect<
  typeof VersionStore.Service,
  InvalidOptions | VersionStoreError | DownloadsInUse,
  FileSystem.FileSystem | Path.Path | Scope.Scope
> => Effect.flatMap(decode(config), open)

/** As `make`, with decoded options. @internal */
export const open = (options: VersionStoreDiskOptions) =>
  Effect.flatMap(Layer.build(diskLayer(options)), (disk) => Effect.provide(makeStore(options), disk)).pipe(
    withoutParentSpan
  )

const diskLayer = ({ ackLease, directory, release }: VersionStoreDiskOptions) =>
  Layer.mergeAll(
    ManifestFile.layer(release === "by hand"),
    Leases.layer(ackLease),
    Retention.readersLayer
  ).pipe(Layer.provideMerge(VersionFolders.layer), Layer.provideMerge(DownloadsFolder.layer(directory)))

const makeStore = Effect.fnUntraced(function* ({ keepVersions }: VersionStoreDiskOptions) {
  const { root } = yield* DownloadsFolder.DownloadsFolder
  const { find, summarize, unswept } = yield* VersionFolders.VersionFolders
  const manifestFile = yield* ManifestFile.ManifestFile
  const leases = yield* Leases.Leases
  const services = (yield* ManifestFile.disk).pipe(
    Context.add(Leases.Leases, leases),
    Context.add(Retention.Readers, yield* Retention.Readers)
  )
  const oneVerification = (yield* Effect.makeSemaphore(1)).withPermits(1)

  const onDisk = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, services)

  /** Runs an effect that changes only the manifest, which works on a full disk too. */
  const change = <A, E>(effect: Effect.Effect<A, E, ManifestFile.Disk>) =>
    onDisk(manifestFile.change(unswept(effect)))

  const take = Effect.fnUntraced(function* (consumerId: string, versionId: string, details: AckDetails) {
    if (!isPlainFileName(consumerId)) {
      return yield* new InvalidConsumerId({ consumerId })
    }
    const existing = yield* find(versionId)
    return yield* leases.take(consumerId, { ...details, versionId: existing })
  }, unswept)

  const acknowledge = Effect.fn("VersionStore.acknowledge")(function* (
    consumerId: string,
    versionId: string,
    details: AckDetails = {}
  ) {
    const renewed = yield* leases.renew(consumerId, { ...details, versionId })
    return Option.isSome(renewed) ? renewed : yield* take(consumerId, versionId, details)
  })

  return VersionStore.of({
    directory: root,
    manifest: manifestFile.read,
    stage: onDisk(stage),
    stageCopy: onDisk(stageCopy),
    activate: (versionId) => change(Hold.activate(versionId)),
    hold: (request) => change(Hold.hold(request)),
    release: (request) => change(Hold.release(request)),
    resume: (request) => change(Hold.resume(request)),
    summarize,
    acknowledge,
    consumers: leases.consumers,
    keep: (versionId) => onDisk(Retention.keep(versionId)),
    verify: (versionId) => onDisk(oneVerification(verify(versionId))),
    versions: onDisk(Retention.versions),
    sweep: onDisk(Retention.sweep(keepVersions, true)),
    evict: onDisk(Retention.sweep(0, false))
  })
})
