/**
 * A content in memory and on disk, and what it reports.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ControllerStateMemory from "../../src/layers/controller/ControllerStateMemory.ts"
import * as CommandBusMemory from "../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../src/layers/memory/EventBusMemory.ts"
import * as VersionStoreDisk from "../../src/layers/versions/VersionStoreDisk.ts"
import { CommandBus } from "../../src/services/CommandBus.ts"
import { ControllerState, type Identity, type Row } from "../../src/services/ControllerState.ts"
import { type BusEvent, EventBus } from "../../src/services/EventBus.ts"
import { ContentState } from "../../src/services/Slices.ts"
import { VersionStore } from "../../src/services/VersionStore.ts"
import { inMemory } from "./inMemory.ts"

type Mode = "task" | "persistent"

export const servicesIn = (
  directory: string,
  mode: Mode,
  identity?: Identity,
  release: "at once" | "by hand" = "at once"
) =>
  VersionStoreDisk.layer({ directory, keepVersions: 2, ackLease: "30 minutes", release }).pipe(
    Layer.merge(EventBusMemory.layer),
    Layer.merge(CommandBusMemory.layer),
    Layer.provideMerge(ControllerStateMemory.layer(mode, identity)),
    Layer.provideMerge(NodeContext.layer)
  )

/** Versions in a folder that is removed with the scope. */
export const makeTemporaryStore = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  return yield* VersionStoreDisk.make({ directory: yield* fs.makeTempDirectoryScoped(inMemory) })
})

export const temporaryStore = Layer.scoped(VersionStore, makeTemporaryStore)

export const services = (mode: Mode, identity?: Identity) =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      return servicesIn(yield* fs.makeTempDirectoryScoped(), mode, identity)
    })
  ).pipe(Layer.provideMerge(NodeContext.layer))

export const fetch = Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ type: "content.fetch" }))
export const readManifest = Effect.flatMap(CommandBus, ({ dispatch }) =>
  dispatch({ type: "content.manifest.read" })
)

/** Follows the event bus from now on: `until` gives the events up to the next one of a name. */
export const follow = Effect.gen(function* () {
  const live = yield* Effect.flatMap(EventBus, ({ subscribe }) => subscribe)
  const events = yield* Stream.toQueueOfElements(live)
  const until = (name: string): Effect.Effect<ReadonlyArray<BusEvent>> =>
    Effect.gen(function* () {
      const told: Array<BusEvent> = []
      while (told.at(-1)?.name !== name) {
        told.push(yield* Effect.orDie(Effect.flatten(Queue.take(events))))
      }
      return told
    })
  return { until }
})

export const names = (events: ReadonlyArray<BusEvent>) => events.map(({ name }) => name)

export const statusRows = Effect.flatMap(ControllerState, ({ status }) => status).pipe(
  Effect.map(({ sections }) => sections.flatMap(({ rows }) => rows))
)

export const rowOf = (label: string) =>
  Effect.map(statusRows, (rows) => rows.find((row) => row.type === "kv" && row.label === label))

export const lastFetchRow = rowOf("Last fetch")

export const rowValue = (label: string) =>
  Effect.map(rowOf(label), (row) => (row?.type === "kv" ? row.value : undefined))

export const itemsOf = (rows: ReadonlyArray<Row>, label: string): ReadonlyArray<Row> =>
  rows.flatMap((row) => (row.type === "list" && row.label === label ? row.items : []))

/** The slice of the state. */
export const contentState = Effect.flatMap(ControllerState, ({ state }) => state).pipe(
  Effect.map(({ plugins }) => Schema.decodeUnknownSync(ContentState)(plugins.content))
)

/** Labels and values of what the status says of a source. */
export const sourceRows = (id: string) =>
  Effect.map(statusRows, (rows) =>
    itemsOf(itemsOf(rows, "Sources"), id).map((row) => (row.type === "kv" ? [row.label, row.value] : row))
  )
