/**
 * A replica in its own folder.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Replica from "../../src/layers/replica/Replica.ts"
import { withAdvancingClock } from "../../src/testing/advancingClock.ts"
import { servicesIn } from "./content.ts"
import { readActive, type Sources } from "./hub.ts"
import { withLog } from "./logged.ts"

/** The first version of a hub, mostly. */
export const first: Sources = {
  exhibits: { "objects.json": "[1]", "films/intro.mp4": "0123456789", "films/copy.mp4": "0123456789" },
  tours: { "tours.json": "[]", "empty.txt": "" }
}

/** A replica of the addresses in its own folder, until the scope ends. */
export const makeReplica = Effect.fnUntraced(function* (
  from: string,
  {
    directory,
    mode = "task",
    report
  }: {
    readonly directory?: string
    readonly mode?: "task" | "persistent"
    readonly report?: { readonly to: string; readonly token: string }
  } = {}
) {
  const fs = yield* FileSystem.FileSystem
  const folder = directory ?? (yield* fs.makeTempDirectoryScoped())
  const log: Array<string> = []
  const logged = withLog(log)
  const services = yield* Layer.build(servicesIn(folder, mode))
  const provided = <A, E, R>(effect: Effect.Effect<A, E, R>) => logged(Effect.provide(effect, services))
  const content = yield* provided(Replica.make({ from, ...(report === undefined ? {} : { report }) }))
  return {
    folder,
    log,
    provided,
    start: logged(content.start),
    fetch: logged(Effect.map(withAdvancingClock(content.fetch), ({ value }) => value)),
    /** The same by the real clock. */
    fetchLive: logged(content.fetch),
    /** What a fetch fails with, as a message. */
    failure: logged(Effect.map(withAdvancingClock(Effect.flip(content.fetch)), ({ value }) => value.message)),
    active: readActive(folder),
    parts: Effect.orElseSucceed(fs.readDirectory(`${folder}/.partial`), () => [])
  }
})
