/**
 * Histories of a hub and a replica. Whatever is promoted, cut off or ended, in whatever order: readers see only
 * complete versions, and in the end the replica has the newest version of the hub.
 */
import { readFileSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { FileListJson, filesOf } from "../../../src/files/FileList.ts"
import { sha256OfText } from "../../../src/files/sha256.ts"
import * as Replica from "../../../src/layers/replica/Replica.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { Manifest } from "../../../src/services/VersionStore.ts"
import { eventLoopTurn, withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import { servicesIn } from "../../support/content.ts"
import { readActive } from "../../support/hub.ts"
import * as Upstream from "../../support/upstream.ts"
import { cutAfter, hangUp, makeUpstream, text } from "../../support/upstream.ts"

const content = FastCheck.constantFrom("a", "b".repeat(2000), "c".repeat(70_000), "d".repeat(200_000))
const files = FastCheck.dictionary(FastCheck.constantFrom("1", "2", "sub/3", "sub/4"), content, {
  minKeys: 1
})
const version = FastCheck.record({ one: files, two: files })

/** Sends the headers of the file and a part of it. */
const cut = cutAfter("d".repeat(200_000), 100)

const fault = FastCheck.constantFrom<ReadonlyArray<Upstream.Answer>>(
  [hangUp],
  [cut],
  [cut, hangUp, hangUp, hangUp],
  [text(200, "<html>")],
  [text(200, "wrong"), text(200, "wrong")],
  [text(206, "lies", { "content-range": "bytes 0-3/4" })],
  [text(500, "")],
  [text(404, "")]
)

const step = FastCheck.oneof(
  FastCheck.record({ _tag: FastCheck.constant("Promote" as const), version }),
  FastCheck.record({ _tag: FastCheck.constant("Back" as const) }),
  FastCheck.record({
    _tag: FastCheck.constant("Fault" as const),
    pattern: FastCheck.constantFrom(/manifest/, /files.json/, /versions.*[1-4]$/),
    fault
  }),
  FastCheck.record({ _tag: FastCheck.constant("Fetch" as const) }),
  FastCheck.record({
    _tag: FastCheck.constant("Undo" as const),
    type: FastCheck.constantFrom("content.hold", "content.rollback", "content.resume")
  }),
  FastCheck.record({ _tag: FastCheck.constant("End" as const), turns: FastCheck.nat({ max: 40 }) })
)

const decodeManifest = Schema.decodeUnknownSync(Schema.parseJson(Manifest))
const decodeList = Schema.decodeUnknownSync(FileListJson)

const dispatch = (type: string) => Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ type }))

/** What a screen sees: no version, or a complete one. Synchronous, so that no sweep comes in between. */
const look = (folder: string) => {
  let manifest: Manifest
  try {
    manifest = decodeManifest(readFileSync(`${folder}/manifest.json`, "utf8"))
  } catch (error) {
    expect(error).toMatchObject({ code: "ENOENT" })
    return
  }
  const list = readFileSync(`${folder}/${manifest.versionPath}/files.json`, "utf8")
  expect(sha256OfText(list)).toBe(manifest.filesSha256)
  for (const [file, { sha256 }] of filesOf(decodeList(list))) {
    expect(sha256OfText(readFileSync(`${folder}/${manifest.versionPath}/${file}`, "utf8"))).toBe(sha256)
  }
}

it.effect.prop(
  "a replica ends with the version of its hub, even after holds, and shows only complete ones",
  { steps: FastCheck.array(step, { minLength: 4, maxLength: 14 }) },
  ({ steps }) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const hub = yield* makeUpstream
      const promoted: Array<string> = [yield* hub.promote({ one: { "1": "first" } })]

      const watching = yield* Effect.fork(
        Effect.forever(
          Effect.zipRight(
            Effect.sync(() => look(directory)),
            eventLoopTurn
          )
        )
      )

      /** Runs a controller from its start to its end. */
      const run = <A, E>(use: (fetch: Effect.Effect<boolean>) => Effect.Effect<A, E, CommandBus>) =>
        Effect.gen(function* () {
          const { fetch } = yield* Replica.make({ from: hub.url })
          return yield* use(Effect.isSuccess(fetch))
        }).pipe(Effect.provide(servicesIn(directory, "task")), Effect.scoped)

      for (const step of steps) {
        yield* TestClock.adjust("1 second")
        switch (step._tag) {
          case "Promote":
            promoted.push(yield* hub.promote(step.version))
            break
          case "Back":
            yield* Effect.ignore(hub.store.activate(promoted.at(-2) ?? ""))
            break
          case "Fault":
            hub.fault(step.pattern, ...step.fault)
            break
          case "Fetch":
            yield* withAdvancingClock(run((fetch) => fetch))
            break
          case "Undo":
            // There may be nothing to undo yet.
            yield* Effect.ignore(run(() => dispatch(step.type)))
            break
          case "End": {
            // The process ends in the middle of the copy.
            const scope = yield* Scope.make()
            const fetching = yield* Effect.forkIn(
              run((fetch) => fetch),
              scope
            )
            yield* Effect.repeatN(eventLoopTurn, step.turns)
            yield* Fiber.interrupt(fetching)
            yield* Scope.close(scope, Exit.void)
          }
        }
      }
      hub.heal()
      expect((yield* withAdvancingClock(run((fetch) => fetch))).value).toBe(true)
      yield* run(() => dispatch("content.resume"))
      expect(yield* readActive(directory)).toEqual(yield* readActive(hub.directory))
      expect(yield* fs.readDirectory(`${directory}/.partial`)).toEqual([])
      yield* Effect.flatMap(Fiber.interrupt(watching), (exit) =>
        Exit.isInterrupted(exit) ? Effect.void : exit
      )
    }).pipe(Effect.scoped, Effect.provide(Upstream.layer), Effect.orDie),
  { fastCheck: { numRuns: Number(process.env.REPLICA_RUNS ?? 2) }, timeout: 120_000 }
)
