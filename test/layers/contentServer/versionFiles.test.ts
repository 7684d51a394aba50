/**
 * What forty machines ask for at the same moment.
 */
import { gunzipSync } from "node:zlib"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as VersionFiles from "../../../src/layers/contentServer/versionFiles.ts"
import { VersionId } from "../../../src/services/VersionStore.ts"
import * as server from "../../support/contentServer.ts"
import { type FileCounts, withCountedFiles } from "../../support/countedFiles.ts"

const versionId = VersionId.make("20261121T093000Z")

const ofEachMachine = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.all(
    Array.from({ length: 40 }, () => effect),
    { concurrency: "unbounded" }
  )

it.scoped("the list of files is read and compressed once, and is the same after a restart", () => {
  const counts: FileCounts = { parts: 0, reads: 0, stats: 0 }
  return Effect.gen(function* () {
    const folder = yield* server.makeFolder
    yield* server.addVersion(folder, { "a.txt": "1", "b.txt": "1" }, versionId)

    const ask = Effect.gen(function* () {
      const { list } = yield* VersionFiles.make(folder)
      return yield* ofEachMachine(Effect.flatMap(list(versionId), ({ gzip }) => gzip))
    })
    const given = yield* ask
    expect(counts.reads).toBe(1)
    expect(new Set(given).size).toBe(1)
    expect(gunzipSync(given[0] ?? "").toString()).toContain(versionId)

    expect(yield* ask).toEqual(given)
    expect(counts.reads).toBe(2)
  }).pipe(
    Effect.provide(withCountedFiles(counts, (path) => path.endsWith("/files.json"))),
    Effect.provide(NodeContext.layer)
  )
})
