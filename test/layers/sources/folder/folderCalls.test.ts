import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { type FolderCall, makeFolderCall } from "../../../../src/layers/sources/folder/folderCalls.ts"
import * as WatchedFolder from "../../../../src/layers/sources/folder/WatchedFolder.ts"
import { withAdvancingClock } from "../../../../src/testing/advancingClock.ts"
import { temporaryFolder } from "../../../support/temporaryFolder.ts"

it.scoped(
  "a folder on a share that hangs keeps two threads at most, and is a problem until the share responds",
  () =>
    Effect.gen(function* () {
      const files = ["A", "B", "C", "D", "E"].map((name) => [`${name}.csv`, "id\n1\n"] as const)
      const { directory } = yield* temporaryFolder(Object.fromEntries(files))
      const call = yield* makeFolderCall(directory)
      const hanging: Array<() => void> = []
      let calls = 0
      const callShare: FolderCall = (action) =>
        call(() =>
          // The folder is found and listed, and then the share hangs.
          ++calls <= 2 ? action() : new Promise((resolve) => hanging.push(() => resolve(action())))
        )
      const { poll } = yield* WatchedFolder.make(directory, true, callShare)
      const ask = TestClock.adjust("1 second").pipe(
        Effect.zipRight(withAdvancingClock(Effect.either(poll(Option.some("before"))))),
        Effect.map(({ value }) => value)
      )

      for (const _ of [1, 2, 3]) {
        expect(yield* ask).toMatchObject({
          _tag: "Left",
          left: {
            message: `${directory}: this folder has not responded for 30 seconds, so its changes are not shown. Is its disk or network share connected?`
          }
        })
        expect(hanging).toHaveLength(2)
      }

      calls = Number.NEGATIVE_INFINITY
      for (const respond of hanging) respond()
      expect(yield* ask).toMatchObject({ _tag: "Right", right: { changed: "everything" } })
    }).pipe(Effect.provide(NodeContext.layer))
)

it.scoped("a call that returns within a second after time has jumped is not refused", () =>
  Effect.gen(function* () {
    const call = yield* makeFolderCall("/mnt/share")
    yield* TestClock.adjust("1 second")
    let respond = () => {}
    const answer = call(
      () =>
        new Promise<string>((resolve) => {
          respond = () => resolve("here")
        })
    )
    yield* TestClock.adjust("30 seconds")
    respond()
    expect(yield* Effect.promise(() => answer)).toBe("here")
  })
)
