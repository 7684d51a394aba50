/**
 * Sizes of pictures, by real `sharp` in real processes.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import sharp, { type Sharp } from "sharp"
import { sha256OfFile } from "../../../../src/files/sha256.ts"
import type * as Images from "../../../../src/layers/documents/images/Images.ts"
import type { PreviousContent } from "../../../../src/services/ContentSource.ts"
import {
  colourAt,
  isBlue,
  makeImages,
  marked,
  noisy,
  plain,
  sourceFolder
} from "../../../support/pictures.ts"

/** The text of a file of the system; empty if its process has ended. */
const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

const provided = Effect.provide(NodeContext.layer)

const shapeOf = ({ sizes }: Images.Derived) => sizes.map(({ height, type, width }) => [type, width, height])

describe("a picture", () => {
  it.scoped.runIf(process.platform === "linux")("is made in a process that has no secrets of this one", () =>
    Effect.gen(function* () {
      process.env.VITRINE_SECRET = "long and secret"
      yield* Effect.addFinalizer(() => Effect.sync(() => delete process.env.VITRINE_SECRET))
      const { save, target } = yield* sourceFolder
      const { derive } = yield* makeImages({ widths: [10] })
      yield* derive(yield* save("media/photo.jpg", yield* bytesOf(noisy(30, 16).jpeg())), target)
      const workers = readdirSync("/proc")
        .filter(
          (name) => /^\d+$/.test(name) && textOf(`/proc/${name}/status`).includes(`\nPPid:\t${process.pid}\n`)
        )
        .map((name) => ({ program: textOf(`/proc/${name}/cmdline`), has: textOf(`/proc/${name}/environ`) }))
        .filter(({ program }) => program.includes("pictureWorker"))
      expect(workers.length).toBeGreaterThan(0)
      expect(workers.filter(({ has }) => has.includes("VITRINE_SECRET"))).toEqual([])
    }).pipe(provided)
  )

  it.scoped("is made smaller in every format, with true sizes and digests of the files", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { directory, images, save, target } = yield* sourceFolder
      const { derive } = yield* makeImages({ widths: [20, 10], formats: ["webp", "jpeg", "png", "avif"] })
      const photo = yield* save("media/photo-00112233445566aa.jpg", yield* bytesOf(noisy(30, 16).jpeg()))

      const derived = yield* derive(photo, target)

      expect(shapeOf(derived)).toEqual(
        ["webp", "jpeg", "png", "avif"].flatMap((format) => [
          [`image/${format}`, 10, 5],
          [`image/${format}`, 20, 11]
        ])
      )
      expect(derived.sizes.map(({ localPath }) => localPath.slice("images/".length)).sort()).toEqual(
        (yield* images).sort()
      )
      for (const { height, localPath, type, width } of derived.sizes) {
        const file = join(directory, localPath)
        const seen = yield* Effect.promise(() => sharp(file).metadata())
        expect(seen).toMatchObject({ width, height, mediaType: type })
        const { size } = yield* fs.stat(file)
        expect(derived.files[localPath]).toEqual({ size: Number(size), sha256: yield* sha256OfFile(file) })
      }
    }).pipe(provided)
  )

  it.scoped("is turned upright, and loses its metadata", () =>
    Effect.gen(function* () {
      const { directory, save, target } = yield* sourceFolder
      const { derive } = yield* makeImages({ widths: [150] })
      // Lies on its side: its top left is at the top right of what people see.
      const lying = marked(400, 300, 0.1, 0.1).withMetadata({ orientation: 6 }).jpeg()
      const photo = yield* save("media/photo.jpg", yield* bytesOf(lying))

      const { sizes } = yield* derive(photo, target)

      expect(sizes).toMatchObject([{ width: 150, height: 200 }])
      const file = join(directory, sizes[0]?.localPath ?? "")
      expect(isBlue(yield* Effect.promise(() => colourAt(file, 0.9, 0.1)))).toBe(true)
      const { exif, orientation } = yield* Effect.promise(() => sharp(file).metadata())
      expect([exif, orientation]).toEqual([undefined, undefined])
    }).pipe(provided)
  )

  it.scoped("is turned upright before it is cropped around its focal point", () =>
    Effect.gen(function* () {
      const { directory, save, target } = yield* sourceFolder
      const { derive } = yield* makeImages({ widths: [100], crop: "square" })
      const lying = marked(400, 300, 0.7, 0.5).withMetadata({ orientation: 6 }).jpeg()
      const photo = yield* save("media/photo.jpg", yield* bytesOf(lying))

      const { sizes } = yield* derive({ ...photo, focus: { x: 0.5, y: 0.7 } }, target)

      // 300 by 400 upright: a square of 300 in which the point at 280 is at 180, as far down as the picture goes.
      expect(sizes).toMatchObject([{ width: 100, height: 100 }])
      const file = join(directory, sizes[0]?.localPath ?? "")
      expect(isBlue(yield* Effect.promise(() => colourAt(file, 0.5, 0.6)))).toBe(true)
      expect(isBlue(yield* Effect.promise(() => colourAt(file, 0.5, 0.9)))).toBe(false)
    }).pipe(provided)
  )

  it.scoped("is cropped as its document says", () =>
    Effect.gen(function* () {
      const { directory, save, target } = yield* sourceFolder
      const { derive } = yield* makeImages({ widths: [1000] })
      const photo = yield* save("media/photo.png", yield* bytesOf(marked(400, 200, 0.75, 0.5).png()))

      const { sizes } = yield* derive({ ...photo, crop: { top: 0, bottom: 0, left: 0.5, right: 0 } }, target)

      expect(sizes).toMatchObject([{ width: 200, height: 200 }])
      const file = join(directory, sizes[0]?.localPath ?? "")
      expect(isBlue(yield* Effect.promise(() => colourAt(file, 0.5, 0.5)))).toBe(true)
    }).pipe(provided)
  )

  it.scoped("is never enlarged: its own width is the largest", () =>
    Effect.gen(function* () {
      const { save, target } = yield* sourceFolder
      const { derive } = yield* makeImages({})
      const small = yield* save("media/small.png", yield* bytesOf(plain(50, 40).png()))
      expect(shapeOf(yield* derive(small, target))).toEqual([["image/webp", 50, 40]])
    }).pipe(provided)
  )
})

describe("a picture that cannot be made smaller", () => {
  it.scoped.each([
    {
      what: "is cut off in the middle",
      change: (whole: Buffer) => whole.subarray(0, whole.length / 2),
      reason: "premature end of JPEG"
    },
    { what: "is empty", change: () => Buffer.alloc(0), reason: "it is empty" }
  ])("fails with the reason if a JPEG $what", ({ change, reason }) =>
    Effect.gen(function* () {
      const { images, save, target } = yield* sourceFolder
      const { derive } = yield* makeImages({ widths: [20] })
      const whole = Buffer.from(yield* bytesOf(noisy(60, 40).jpeg()))
      const error = yield* Effect.flip(derive(yield* save("media/photo.jpg", change(whole)), target))
      expect(error.detail).toContain(reason)
      expect(error.message.length).toBeLessThan(400)
      expect(yield* images).toEqual([])

      const good = yield* save("media/good.jpg", whole)
      expect((yield* derive(good, target)).sizes).toHaveLength(1)
    }).pipe(provided)
  )

  it.scoped("fails with the reason if the file cannot be written", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { directory, save, target } = yield* sourceFolder
      const { derive } = yield* makeImages({ widths: [10] })
      const photo = yield* save("media/photo.png", yield* bytesOf(plain(20, 20).png()))
      yield* fs.writeFileString(join(directory, "images"), "")
      expect((yield* Effect.flip(derive(photo, target))).detail).toBe(
        "something else of this name stands there."
      )
    }).pipe(provided)
  )
})

describe("the same picture", () => {
  const formats = ["webp", "jpeg", "png", "avif"] as const

  it.scoped("gets files of equal bytes in each process", () =>
    Effect.gen(function* () {
      const photo = yield* bytesOf(noisy(60, 40).jpeg())
      const once = Effect.gen(function* () {
        const { save, target } = yield* sourceFolder
        const { derive } = yield* makeImages({ widths: [30], formats })
        return yield* derive(yield* save("media/photo.jpg", photo), target)
      }).pipe(Effect.scoped)
      const first = yield* once
      expect(yield* once).toEqual(first)
    }).pipe(provided)
  )

  it.scoped("is reused from the previous version, and only new sizes are made", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const before = yield* sourceFolder
      const after = yield* sourceFolder
      const photo = yield* bytesOf(noisy(60, 40).jpeg())
      const { derive } = yield* makeImages({ widths: [10, 20] })
      const first = yield* derive(yield* before.save("media/photo.jpg", photo), before.target)

      const wider = yield* makeImages({ widths: [10, 20, 30] })
      const target = { ...after.target, previous: before.asPrevious(first) }
      const second = yield* wider.derive(yield* after.save("media/photo.jpg", photo), target)

      expect(second.sizes.slice(0, 2)).toEqual(first.sizes)
      expect(second.files).toMatchObject(first.files)
      const links = yield* Effect.forEach(second.sizes, ({ localPath }) =>
        Effect.map(fs.stat(join(after.directory, localPath)), ({ nlink }) => Option.getOrThrow(nlink))
      )
      expect(links).toEqual([2, 2, 1])
    }).pipe(provided)
  )

  it.scoped("is taken over from a fetch that was refused after it was made", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = join(yield* fs.makeTempDirectoryScoped(), "museum.images")
      const { derive, tidy } = yield* makeImages({ widths: [10] }, Option.some(folder))
      const photo = yield* bytesOf(noisy(30, 16).jpeg())
      const fetch = Effect.fnUntraced(function* (previous: Option.Option<PreviousContent>) {
        const { directory, save, target } = yield* sourceFolder
        const made = { ...target, previous }
        const derived = yield* derive(yield* save("media/photo.jpg", photo), made)
        yield* tidy(made)
        const [localPath = ""] = Object.keys(derived.files)
        const { ino } = yield* fs.stat(join(directory, localPath))
        return { directory, files: derived.files, ino }
      })
      const refused = yield* fetch(Option.none())
      const next = yield* fetch(Option.none())
      expect(next).toMatchObject({ files: refused.files, ino: refused.ino })

      const { directory, files } = next
      yield* fetch(Option.some({ directory, files, fingerprint: Option.none() }))
      expect(yield* fs.readDirectory(folder)).toEqual([])
    }).pipe(provided)
  )

  it.scoped("is made again if the previous version lists a missing file", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const before = yield* sourceFolder
      const after = yield* sourceFolder
      const photo = yield* bytesOf(plain(60, 40).jpeg())
      const { derive } = yield* makeImages({ widths: [30] })
      const first = yield* derive(yield* before.save("media/photo.jpg", photo), before.target)
      const previous = before.asPrevious(first)
      yield* fs.remove(join(before.directory, "images"), { recursive: true })
      const target = { ...after.target, previous }
      expect(yield* derive(yield* after.save("media/photo.jpg", photo), target)).toEqual(first)
      expect(yield* after.images).toHaveLength(1)
    }).pipe(provided)
  )

  it.scoped("gets different files for a different content, focal point or quality", () =>
    Effect.gen(function* () {
      const { save, target } = yield* sourceFolder
      const square = yield* makeImages({ widths: [30], crop: "square" })
      const coarse = yield* makeImages({ widths: [30], crop: "square", quality: 20 })
      const photo = yield* save("media/photo.jpg", yield* bytesOf(noisy(60, 40).jpeg()))
      const changed = yield* save("media/photo.jpg", yield* bytesOf(noisy(60, 40).jpeg()))
      const all = yield* Effect.all([
        square.derive(photo, target),
        square.derive({ ...photo, focus: { x: 0, y: 0 } }, target),
        coarse.derive(photo, target),
        square.derive(changed, target)
      ])
      const names = all.flatMap(({ sizes }) => sizes.map(({ localPath }) => localPath))
      expect(new Set(names).size).toBe(4)
    }).pipe(provided)
  )

  it.scoped("is made once for two names, if cropping makes no difference", () =>
    Effect.gen(function* () {
      const { images, save, target } = yield* sourceFolder
      const { derive } = yield* makeImages({ widths: [100] })
      const photo = yield* bytesOf(noisy(60, 40).jpeg())
      const one = yield* save("media/photo-0000000000000001.jpg", photo)
      const other = yield* save("media/photo-0000000000000002.jpg", photo)
      const cut = { ...other, focus: { x: 0, y: 0 } }
      const [first, second] = yield* Effect.all([derive(one, target), derive(cut, target)], {
        concurrency: "unbounded"
      })
      expect(second).toEqual(first)
      expect(second.files[second.sizes[0]?.localPath ?? ""]).toBe(
        first.files[first.sizes[0]?.localPath ?? ""]
      )
      expect(yield* images).toHaveLength(1)
    }).pipe(provided)
  )
})

const bytesOf = (picture: Sharp) => Effect.promise(() => picture.toBuffer())
