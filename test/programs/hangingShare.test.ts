import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { vi } from "vitest"
import * as ContentServer from "../../src/layers/contentServer/ContentServer.ts"
import * as ControllerServices from "../../src/layers/controller/ControllerServices.ts"
import * as HttpClientNode from "../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../src/layers/memory/RequestPacingMemory.ts"
import { folderSource } from "../../src/layers/sources/folder/folderSource.ts"
import { BaseFolder } from "../../src/services/ContentSource.ts"
import { withAdvancingClock } from "../../src/testing/advancingClock.ts"
import { temporaryFolder } from "../support/temporaryFolder.ts"
import { somebodySleepsFor } from "../support/waiting.ts"

const share = vi.hoisted(() => ({ hangs: true, responds: [] as (() => void)[] }))

// Needs a process of its own: other tests have loaded the real module.
vi.mock("node:fs/promises", async (load) => {
  const disk = await load<typeof import("node:fs/promises")>()
  const realpath = async (path: string) => {
    if (share.hangs) await new Promise<void>((resolve) => share.responds.push(resolve))
    return disk.realpath(path)
  }
  return { ...disk, realpath }
})

it.scoped(
  "a folder whose share hangs at the start delays it for half a minute, and is looked through before its files are saved",
  () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({
        "Objects.csv": "id\n1\n",
        ".env": "TOKEN=secret"
      })
      share.hangs = true
      const { value: source } = yield* folderSource({ id: "exhibits", directory }).make.pipe(
        Effect.provideService(BaseFolder, directory),
        withAdvancingClock
      )
      const { directory: version } = yield* temporaryFolder()
      const fetch = Effect.map(
        withAdvancingClock(
          Effect.flip(
            source.fetch({ directory: version, previous: Option.none(), progress: () => Effect.void })
          )
        ),
        ({ value: { message } }) => message
      )
      expect(yield* fetch).toContain("this folder has not responded for 30 seconds")
      share.hangs = false
      for (const respond of share.responds) respond()
      // The calls of the next second were refused too.
      yield* TestClock.adjust("1 second")
      expect(yield* fetch).toContain(
        ".env is in this folder, and everybody who can read the content could read this file"
      )
    }).pipe(
      Effect.provide(Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer))
    )
)

it.scoped("a page on a share that hangs ends the start after half a minute, and names the folder", () =>
  Effect.gen(function* () {
    const { directory: site } = yield* temporaryFolder()
    const { directory: downloadPath } = yield* temporaryFolder()
    share.hangs = true
    const failure = yield* Effect.fork(Effect.flip(ContentServer.make({ port: 0, downloadPath, site })))
    yield* somebodySleepsFor("30 seconds")
    yield* TestClock.adjust("30 seconds")
    const { message } = yield* failure
    expect(message).toContain(`${site} has not responded for 30 seconds`)
  }).pipe(Effect.provide(Layer.merge(NodeContext.layer, ControllerServices.layer("persistent"))))
)
