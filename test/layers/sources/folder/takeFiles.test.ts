import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import type { FolderCall } from "../../../../src/layers/sources/folder/folderCalls.ts"
import { makeLook } from "../../../../src/layers/sources/folder/lookAtFolder.ts"
import { makeTakeFiles } from "../../../../src/layers/sources/folder/takeFiles.ts"
import { temporaryFolder } from "../../../support/temporaryFolder.ts"

it.scoped("a large file on a slow share is progress while it is copied", () =>
  Effect.gen(function* () {
    const size = 1024 ** 2
    const { directory } = yield* temporaryFolder({ "film.mp4": "x".repeat(size) })
    const target = yield* temporaryFolder({})
    const waits = yield* Deferred.make<void>()
    let goOn = () => {}
    let calls = Number.NEGATIVE_INFINITY
    // The file is opened, its state and its first part are read, and the second part is slow.
    const call: FolderCall = (action) =>
      ++calls === 4
        ? new Promise((resolve) => {
            goOn = () => resolve(action())
            Deferred.unsafeDone(waits, Effect.void)
          })
        : action()
    const { files } = yield* makeLook(directory, false, call)
    calls = 0
    const reported: Array<number> = []
    const taking = yield* makeTakeFiles()(
      files,
      { directory: target.directory, previous: Option.none(), progress: () => Effect.void },
      ({ bytes }) => Effect.sync(() => void reported.push(bytes))
    ).pipe(Effect.fork)
    yield* Deferred.await(waits)
    yield* TestClock.adjust("1 second")
    expect(reported).toEqual([0, size / 4])
    goOn()
    yield* Fiber.join(taking)
    expect(reported.at(-1)).toBe(size)
  }).pipe(Effect.provide(NodeContext.layer))
)
