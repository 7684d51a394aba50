import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import sharp from "sharp"
import * as PictureWorkers from "../../../../src/layers/documents/images/PictureWorkers.ts"

/** The processes for pictures that this one has started, and no others. */
const countWorkers = () =>
  readdirSync("/proc").filter((pid) => {
    const [status = "", command = ""] = ["status", "cmdline"].map((file) =>
      readIfThere(`/proc/${pid}/${file}`)
    )
    return status.includes(`\nPPid:\t${process.pid}\n`) && command.includes("pictureWorker")
  }).length

const readIfThere = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

it.scopedLive("two pictures are worked on at the same time, however many sources there are", () =>
  Effect.gen(function* () {
    const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    const pipe = join(folder, "pipe")
    const picture = join(folder, "picture.png")
    execFileSync("mkfifo", [pipe])
    yield* Effect.promise(() =>
      sharp({ create: { width: 2, height: 2, channels: 3, background: "red" } }).toFile(picture)
    )
    const one = yield* PictureWorkers.make
    const other = yield* PictureWorkers.make
    const endless = yield* Effect.forkScoped(Effect.all([one.look(pipe), one.look(pipe)], { concurrency: 2 }))
    // Opens once a process reads it.
    yield* Effect.acquireRelease(
      Effect.promise(() => open(pipe, "w")),
      (handle) => Effect.promise(() => handle.close())
    )

    const looked = yield* Effect.forkScoped(other.look(picture))
    yield* Effect.repeatN(Effect.yieldNow(), 100)
    const working = countWorkers()

    yield* Fiber.interrupt(endless)
    expect(yield* Fiber.join(looked)).toMatchObject({ is: "picture", width: 2 })
    expect(working).toBe(2)
  }).pipe(Effect.provide(NodeContext.layer))
)
