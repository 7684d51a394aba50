import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as VersionStoreDisk from "../../src/layers/versions/VersionStoreDisk.ts"
import { VersionStore } from "../../src/services/VersionStore.ts"
import { type Case, runCase } from "../../src/testing/runCase.ts"
import { services } from "./content.ts"

/** Makes a function for tests as generators: each has its own scope and services, and gets what `given` gives. */
export const scenarios =
  <Given, R, E, E2>(
    services: Layer.Layer<R, E>,
    given: Effect.Effect<Given, E2, NoInfer<R> | Scope.Scope>,
    { isLive = false } = {}
  ) =>
  (title: string, test: Case<Given, R>) => {
    const run = () => runCase(given, test).pipe(Effect.provide(services))
    return isLive ? it.live(title, run) : it.effect(title, run)
  }

/** A test that needs no services. */
export const scoped = scenarios(Layer.empty, Effect.void)

const given = Effect.all({ fs: FileSystem.FileSystem })

/** A test of a content in a folder of its own. */
export const inTask = scenarios(services("task"), given)

/** As `inTask`, in a controller that goes on. */
export const inController = scenarios(services("persistent"), given)

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

/** A test that gets an empty folder. */
export const inFolder = scenarios(
  NodeContext.layer,
  Effect.all({ directory: temporary, fs: FileSystem.FileSystem })
)

/** The versions in this folder: the newest two are kept. */
export const storeIn = (directory: string) =>
  VersionStoreDisk.layer({ directory, keepVersions: 2, ackLease: "30 minutes" })

/** A test of an empty store, whose folder does not exist yet. */
export const inStore = scenarios(
  Layer.unwrapScoped(Effect.map(temporary, (directory) => storeIn(`${directory}/not/there/yet`))).pipe(
    Layer.provideMerge(NodeContext.layer)
  ),
  Effect.all({ store: VersionStore, fs: FileSystem.FileSystem })
)
