/**
 * What forty machines ask for at the same moment.
 */
import { gunzipSync } from "node:zlib"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as VersionFiles from "../../../src/layers/contentServer/VersionFiles.ts"
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

it.scoped("a file that no version has costs no reading of lists, however many versions there are", () => {
  const counts: FileCounts = { parts: 0, reads: 0, stats: 0 }
  return Effect.gen(function* () {
    const folder = yield* server.makeFolder
    const ids = Array.from({ length: 12 }, (_, day) => VersionId.make(`202611${day + 10}T093000Z`))
    for (const id of ids) yield* server.addVersion(folder, { "a.txt": "1", [`${id}.txt`]: "1" }, id)
    const { findInAny } = yield* VersionFiles.make(folder)
    const find = (path: string, sha256?: string) =>
      Effect.map(findInAny(Option.none(), `exhibits/${path}`, sha256), Option.isSome)
    expect(yield* find("old.js")).toBe(false)
    expect(counts.reads).toBe(12)
    expect(yield* find("old.js")).toBe(false)
    expect(yield* find("a.txt", "0".repeat(64))).toBe(false)
    expect(counts.reads).toBe(12)
    expect(yield* find(`${ids[0]}.txt`)).toBe(true)
    yield* server.addVersion(folder, { "old.js": "1" }, VersionId.make("20261120T093000Z"))
    expect(yield* find("old.js")).toBe(true)
    expect(counts.reads).toBe(13)
  }).pipe(
    Effect.provide(withCountedFiles(counts, (path) => path.endsWith("/files.json"))),
    Effect.provide(NodeContext.layer)
  )
})
