/**
 * The bus passes the contract of all event buses.
 */
import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { eventBusContract } from "vitrine/testing"
import * as EventBusJournal from "./EventBusJournal.ts"

const journal = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()).pipe(
  Effect.map((folder) => `${folder}/events.ndjson`),
  Effect.provide(NodeFileSystem.layer)
)

eventBusContract("EventBusJournal", Layer.unwrapScoped(Effect.map(journal, EventBusJournal.layer)), {
  pair: Effect.flatMap(journal, (file) =>
    Effect.all([EventBusJournal.make(file), EventBusJournal.make(file)])
  )
})
