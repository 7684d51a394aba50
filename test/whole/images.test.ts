/**
 * The processes that make pictures: how many there are, how they end, and what becomes of the work then.
 */
import { type ChildProcess, execFileSync, fork } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import * as TestServices from "effect/TestServices"
import sharp from "sharp"
import * as PictureWorkers from "../../src/layers/documents/images/PictureWorkers.ts"
import { repository } from "../support/documents.ts"
import { makeImages, noisy, plain, sourceFolder } from "../support/pictures.ts"
import * as waiting from "../support/waiting.ts"

const readStat = Option.liftThrowable((file: string) => {
  const text = readFileSync(file, "utf8")
  return text.slice(text.lastIndexOf(")") + 2).split(" ")
})

/** The processes that this one has started for pictures, and that have not ended. */
const workers = (): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) =>
      Option.exists(
        readStat(`/proc/${pid}/stat`),
        ([state, parent]) => Number(parent) === process.pid && state !== "Z"
      )
    )
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("pictureWorker"))
    .map(Number)

const cpuTicks = (pid: number) =>
  Option.match(readStat(`/proc/${pid}/stat`), {
    onNone: () => 0,
    onSome: (stat) => Number(stat[11]) + Number(stat[12])
  })

/** Encoding takes several seconds of the processor. The start takes one of them on a slow machine. */
const isBusy = (pid: number) => cpuTicks(pid) > 300

const threadsOf = (pid: number) =>
  Array.getSomes(
    readdirSync(`/proc/${pid}/task`).map((thread) => readStat(`/proc/${pid}/task/${thread}/stat`))
  )

/** Checks at intervals: checking without a pause leaves little time to processes of low priority. */
const eventually = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  waiting.eventually(Effect.zipRight(TestServices.provideLive(Effect.sleep("20 millis")), condition))

const bytesOf = (picture: ReturnType<typeof noisy>) => Effect.promise(() => picture.toBuffer())

const provided = Effect.provide(NodeContext.layer)

describe("a picture that takes long", () => {
  /** Its encoding has begun, and would go on for many seconds. */
  const slow = Effect.gen(function* () {
    const folder = yield* sourceFolder
    const fs = yield* FileSystem.FileSystem
    const { derive } = yield* makeImages({ widths: [2400], formats: ["avif"] })
    const photo = yield* folder.save("media/photo.jpg", yield* bytesOf(noisy(2400, 1800).jpeg()))
    const fiber = yield* Effect.fork(derive(photo, folder.target))
    yield* eventually(Effect.orDie(fs.exists(join(folder.directory, "images"))))
    return { derive, fiber, folder }
  })

  it.scoped("fails, and others are made after it", () =>
    Effect.gen(function* () {
      const { derive, fiber, folder } = yield* slow
      // The time begins when the process has the job.
      yield* Effect.zipRight(TestClock.adjust("5 minutes"), waiting.eventLoopTurn).pipe(
        Effect.repeat({ until: () => Effect.map(Fiber.poll(fiber), ({ _tag }) => _tag === "Some") })
      )
      const error = yield* Effect.flip(Fiber.join(fiber))
      expect(error.detail).toBe("it takes longer than 1 hour.")
      expect(yield* folder.images).toEqual([])
      const small = yield* folder.save("media/small.png", yield* bytesOf(plain(20, 20).png()))
      expect((yield* derive(small, folder.target)).sizes).toHaveLength(1)
    }).pipe(provided)
  )

  it.scoped("is stopped when nobody waits for it", () =>
    Effect.gen(function* () {
      const { fiber, folder } = yield* slow
      const began = performance.now()
      yield* Fiber.interrupt(fiber)
      expect(performance.now() - began).toBeLessThan(5000)
      expect(yield* folder.images).toEqual([])
    }).pipe(provided)
  )
})

describe("a scan", () => {
  it.scopedLive("of 380 megapixels is made smaller", () =>
    Effect.gen(function* () {
      const { save, target } = yield* sourceFolder
      const { derive } = yield* makeImages({ widths: [200] })
      const large = { create: { width: 20_000, height: 19_000, channels: 3, background: "red" } } as const
      const bytes = yield* bytesOf(sharp({ limitInputPixels: false, ...large }).jpeg({ quality: 10 }))
      const { sizes } = yield* derive(yield* save("media/scan.jpg", bytes), target)
      expect(sizes).toMatchObject([{ width: 200, height: 190 }])
    }).pipe(provided)
  )
})

describe.runIf(process.platform === "linux")("the processes that make pictures", () => {
  it.scoped("are at most two, with a low priority in all threads, and end without work", () =>
    Effect.gen(function* () {
      const { save, target } = yield* sourceFolder
      const { derive } = yield* makeImages({ widths: [150, 300], formats: ["webp", "avif"] })
      expect(workers()).toEqual([])
      const names = Array.makeBy(4, (index) => `media/${index}.jpg`)
      const photos = yield* Effect.forEach(names, (name) =>
        Effect.flatMap(bytesOf(noisy(600, 400).jpeg()), (bytes) => save(name, bytes))
      )

      const fiber = yield* Effect.fork(
        Effect.forEach(photos, (photo) => derive(photo, target), { concurrency: "unbounded" })
      )
      const counts = new Set<number>()
      const priorities = new Set<string | undefined>()
      yield* eventually(
        Effect.sync(() => {
          const pids = workers()
          counts.add(pids.length)
          for (const thread of pids.filter((pid) => cpuTicks(pid) > 20).flatMap(threadsOf)) {
            priorities.add(thread[16])
          }
        }).pipe(Effect.zipRight(Effect.map(Fiber.poll(fiber), Option.isSome)))
      )

      expect(yield* Fiber.join(fiber)).toHaveLength(4)
      expect(Math.max(...counts)).toBe(2)
      expect([...priorities]).toEqual(["10"])
      // The time without work begins some moments after the work has ended.
      yield* eventually(Effect.map(TestClock.adjust("2 minutes"), () => workers().length === 0))
    }).pipe(provided)
  )

  it.scopedLive("work on two pictures at the same time, however many sources there are", () =>
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
      const endless = yield* Effect.forkScoped(
        Effect.all([one.look(pipe), one.look(pipe)], { concurrency: 2 })
      )
      // Opens once a process reads it.
      yield* Effect.acquireRelease(
        Effect.promise(() => open(pipe, "w")),
        (handle) => Effect.promise(() => handle.close())
      )

      const looked = yield* Effect.forkScoped(other.look(picture))
      yield* Effect.repeatN(Effect.yieldNow(), 100)
      const working = workers().length

      yield* Fiber.interrupt(endless)
      expect(yield* Fiber.join(looked)).toMatchObject({ is: "picture", width: 2 })
      expect(working).toBe(2)
    }).pipe(provided)
  )

  it.scoped("end with the scope", () =>
    Effect.gen(function* () {
      const { save, target } = yield* sourceFolder
      const photo = yield* save("media/a.png", yield* bytesOf(plain(20, 20).png()))
      yield* makeImages({}).pipe(
        Effect.flatMap(({ derive }) => derive(photo, target)),
        Effect.tap(Effect.sync(() => expect(workers()).not.toEqual([]))),
        Effect.scoped
      )
      yield* eventually(Effect.sync(() => workers().length === 0))
    }).pipe(provided)
  )

  const endless = { job: "make", width: 3000, height: 2000, format: "avif" }

  const slow = Effect.gen(function* () {
    const folder = yield* sourceFolder
    const { derive } = yield* makeImages({ widths: [2000], formats: ["avif"] })
    const photo = yield* folder.save("media/photo.jpg", yield* bytesOf(noisy(2000, 1400).jpeg()))
    return { fiber: yield* Effect.fork(Effect.either(derive(photo, folder.target))), folder, derive }
  })

  const killBusy = Effect.gen(function* () {
    yield* eventually(Effect.sync(() => workers().some(isBusy)))
    const killed = workers().filter(isBusy)
    for (const pid of killed) process.kill(pid, "SIGKILL")
    yield* eventually(Effect.sync(() => !workers().some((pid) => killed.includes(pid))))
  })

  it.scoped("are replaced when one is killed at work, and the picture is made", () =>
    Effect.gen(function* () {
      const { fiber, folder } = yield* slow
      yield* killBusy
      const { sizes } = yield* Effect.flatten(Fiber.join(fiber))
      expect(sizes).toMatchObject([{ width: 2000, height: 1400 }])
      expect(yield* folder.images).toEqual(sizes.map(({ localPath }) => localPath.slice("images/".length)))
    }).pipe(provided)
  )

  it.scoped("are not replaced without end for a picture that crashes each of them", () =>
    Effect.gen(function* () {
      const { derive, fiber, folder } = yield* slow
      yield* killBusy
      yield* killBusy
      yield* killBusy
      const error = Either.getLeft(yield* Fiber.join(fiber))
      expect(Option.getOrThrow(error).detail).toBe("the process that makes it has ended with SIGKILL.")
      expect(yield* folder.images).toEqual([])
      const small = yield* folder.save("media/small.png", yield* bytesOf(plain(20, 20).png()))
      expect((yield* derive(small, folder.target)).sizes).toHaveLength(1)
    }).pipe(provided)
  )

  it.scoped("are replaced when they are killed without work", () =>
    Effect.gen(function* () {
      const { save, target } = yield* sourceFolder
      const { derive } = yield* makeImages({ widths: [10, 20] })
      const photo = yield* save("media/a.png", yield* bytesOf(plain(20, 20).png()))
      yield* derive(photo, target)
      for (const pid of workers()) process.kill(pid, "SIGKILL")
      yield* eventually(Effect.sync(() => workers().length === 0))
      const other = yield* save("media/b.png", yield* bytesOf(plain(20, 20, "blue").png()))
      expect((yield* derive(other, target)).sizes).toHaveLength(2)
    }).pipe(provided)
  )

  it.scoped("of the package end at work when their controller has ended", () =>
    Effect.gen(function* () {
      const { directory, save } = yield* sourceFolder
      const { file } = yield* save("media/photo.jpg", yield* bytesOf(noisy(3000, 2000).jpeg()))
      const worker: ChildProcess = fork(join(repository, "dist/layers/documents/images/pictureWorker.js"))
      const ready = yield* Effect.promise(() => once(worker, "message"))
      expect(ready[0]).toEqual({ is: "ready" })
      worker.send({ ...endless, file, to: join(directory, "out"), limitMs: 600_000 })
      yield* eventually(Effect.sync(() => isBusy(worker.pid ?? 0)))

      worker.disconnect()

      expect(yield* Effect.promise(() => once(worker, "exit"))).toEqual([null, "SIGKILL"])
    }).pipe(provided)
  )

  it.scoped("of the package report and end where a picture takes too much processor time", () =>
    Effect.gen(function* () {
      const { directory, save } = yield* sourceFolder
      const { file } = yield* save("media/photo.jpg", yield* bytesOf(noisy(3000, 2000).jpeg()))
      const worker: ChildProcess = fork(join(repository, "dist/layers/documents/images/pictureWorker.js"))
      const said: Array<unknown> = []
      worker.on("message", (message: unknown) => {
        if (said.push(message) === 1) {
          worker.send({ ...endless, file, to: join(directory, "out"), limitMs: 1000 })
        }
      })
      expect(yield* Effect.promise(() => once(worker, "exit"))).toEqual([null, "SIGKILL"])
      const message = "it takes longer than 1 s of the processor's time."
      expect(said).toEqual([{ is: "ready" }, { is: "failed", message }])
    }).pipe(provided)
  )
})
