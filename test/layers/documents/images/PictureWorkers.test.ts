/**
 * Jobs that are given up half way, by real processes.
 */
import { type ChildProcess, execFileSync, fork } from "node:child_process"
import { once } from "node:events"
import { writeSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as PictureWorkers from "../../../../src/layers/documents/images/PictureWorkers.ts"
import { Looked } from "../../../../src/layers/documents/images/pictureMessages.ts"
import { repository } from "../../../support/documents.ts"
import { plain } from "../../../support/pictures.ts"
import { temporaryFolder } from "../../../support/temporaryFolder.ts"

const pictureIn = Effect.fnUntraced(function* (folder: string) {
  const picture = join(folder, "picture.png")
  yield* Effect.promise(() => plain(2, 2).toFile(picture))
  return picture
})

describe("a job that is given up because another job fails", () => {
  it.scopedLive("has ended its process, and the next job gets its own answer", () =>
    Effect.gen(function* () {
      const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      const picture = yield* pictureIn(folder)
      const pipe = join(folder, "pipe")
      execFileSync("mkfifo", [pipe])
      const workers = yield* PictureWorkers.make
      // Opens when the process reads it.
      const opened = Effect.acquireRelease(
        Effect.promise(() => open(pipe, "w")),
        (handle) => Effect.promise(() => handle.close())
      )
      const writer = yield* Effect.flip(
        Effect.all([workers.look(pipe), Effect.flatMap(opened, Effect.fail)], { concurrency: "unbounded" })
      )
      if (writer instanceof PictureWorkers.PictureNotMade) return yield* writer
      expect(() => writeSync(writer.fd, "x")).toThrow("EPIPE")
      expect(yield* workers.look(picture)).toMatchObject({ is: "picture", width: 2 })
    }).pipe(Effect.provide(NodeContext.layer))
  )
})

describe("the process for pictures", () => {
  it.scopedLive("may answer an earlier job late: the answer is not taken for that of the present job", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({
        "worker.mjs": `process.on("message", ({ number }) => {
          process.send({ is: "unknown", number: number - 1 })
          process.send({ is: "left alone", number })
        })`
      })
      const worker = yield* Effect.acquireRelease(
        Effect.sync((): ChildProcess => fork(join(directory, "worker.mjs"))),
        (worker) => Effect.sync(() => worker.kill("SIGKILL"))
      )
      const job = { job: "look", file: "/picture.png", limitMs: 60_000 } as const
      expect(yield* PictureWorkers.ask(worker, job, Looked)).toEqual({ is: "left alone" })
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("answers each job with the number of the job", () =>
    Effect.gen(function* () {
      const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      const file = yield* pictureIn(folder)
      const process = yield* Effect.acquireRelease(
        Effect.sync(
          (): ChildProcess =>
            fork(join(repository, "src/layers/documents/images/pictureWorker.ts"), {
              execArgv: ["--import", "jiti/register"]
            })
        ),
        (process) => Effect.sync(() => process.kill("SIGKILL"))
      )
      const answer = Effect.promise(() => once(process, "message"))
      yield* answer
      for (const [number, path, is] of [
        [7, file, "picture"],
        [8, join(folder, "missing.png"), "failed"]
      ] as const) {
        const answered = yield* Effect.fork(answer)
        process.send({ job: "look", file: path, limitMs: 60_000, number })
        expect(yield* answered).toMatchObject([{ is, number }, undefined])
      }
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
