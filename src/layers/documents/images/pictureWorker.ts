/**
 * The program of a process that makes pictures, one at a time: it receives a message for each job, and answers it.
 *
 * It is a process because nothing else stops an encoder that takes too long, and because a picture that crashes the
 * decoder then ends only this process. It does not use Effect, so that it starts quickly.
 */
import { createHash } from "node:crypto"
import { open as openFile, writeFile } from "node:fs/promises"
import type { Sharp } from "sharp"
import type { ImageFormat } from "../DocumentConfig.ts"
import { headBytes, kindOf, notShown } from "../media/fileKinds.ts"
import type { Failed, Job, Look, Looked, Made, Make, Ready } from "./pictureMessages.ts"

/** A job as it is sent. Its answer has the same number. */
type Numbered = Job & { readonly number: number }

const answer = (answer: Ready | Looked | Made | Failed, number?: number) =>
  process.send?.({ ...answer, number })

const fail = (error: unknown, number?: number) => {
  const message = error instanceof Error ? error.message : String(error)
  const isOfSystem = error instanceof Error && "code" in error && typeof error.code === "string"
  answer({ is: "failed", message, code: isOfSystem ? String(error.code) : undefined }, number)
}

const start = async () => {
  const { default: sharp } = await import("sharp")
  sharp.cache(false)
  // The bytes of AVIF depend on the number of threads.
  sharp.concurrency(1)

  /** Fails only for cut files, because decoders warn about many pictures that every browser shows. */
  const open = (file: string, limitInputPixels: number | false) =>
    sharp(file, { failOn: "truncated", limitInputPixels })

  const look = async ({ file }: Look): Promise<Looked> => {
    const format = kindOf(await headOf(file))
    if (format?.of !== "picture") {
      return { is: "unknown" }
    }
    if (format.decoder === undefined || !sharp.format[format.decoder].input.file) {
      const wrong = notShown(format)
      if (wrong !== undefined) throw new Error(`${wrong}.`)
      return { is: "left alone" }
    }
    const {
      autoOrient: { height, width },
      pages = 1
    } = await decoded(open(file, false).metadata())
    if (pages > 1 && format.isShown) {
      return { is: "left alone" }
    }
    if (width * height > maxPixels) {
      const [has, limit] = [width * height, maxPixels].map((pixels) => Math.round(pixels / 1e6))
      throw new Error(`it has ${width} × ${height} pixels, ${has} megapixels, of ${limit} that it may have.`)
    }
    return { is: "picture", width, height, versions: versionsOf(sharp) }
  }

  const make = async ({ area, file, format, height, quality, to, width }: Make): Promise<Made> => {
    const warnings: Array<string> = []
    const upright = open(file, maxPixels)
      .on("warning", (warning: string) => warnings.push(warning))
      .autoOrient()
    const part = area === undefined ? upright : upright.extract(area)
    const resized = part.resize({ width, height, fit: "fill", withoutEnlargement: true })
    const bytes = await decoded(encode(resized, format, quality).toBuffer())
    await writeFile(to, bytes)
    const warning = warnings.find((warning) => !/^read gave \d+ warnings$/.test(warning))
    return {
      is: "made",
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      warning
    }
  }

  process.on("message", (job: unknown) => {
    if (isJob(job)) {
      const work = (): Promise<Looked | Made> => (job.job === "look" ? look(job) : make(job))
      within(job, work).then(
        (made) => answer(made, job.number),
        (error) => fail(error, job.number)
      )
    }
  })
  answer({ is: "ready" })
}

/** In bytes. A picture of 400 megapixels takes 2.4 GB if its decoder needs all of it at once. */
const maxMemory = 3 * 1024 ** 3

/** A scan of 20,000 by 20,000 pixels. */
const maxPixels = 400_000_000

/**
 * Runs the work with a limit of time, and of 3 GiB of memory. The limit is processor time, because a process of low
 * priority may wait for the processor as long as others need it.
 */
const within = async <A>({ limitMs, number }: Numbered, work: () => Promise<A>): Promise<A> => {
  const start = process.cpuUsage()
  const giveUp = (message: string) =>
    process.send?.({ is: "failed", message, number }, undefined, undefined, end)
  const timer = setInterval(() => {
    const { system, user } = process.cpuUsage(start)
    if ((system + user) / 1000 > limitMs) {
      giveUp(`it takes longer than ${Math.round(limitMs / 1000)} s of the processor's time.`)
    } else if (process.memoryUsage.rss() > maxMemory) {
      giveUp("it takes more than 3 GiB of memory.")
    }
  }, 200)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/** Kills the process, because Node itself would wait for the running encoder. */
const end = () => process.kill(process.pid, "SIGKILL")

const decoded = <A>(work: Promise<A>): Promise<A> =>
  work.catch((error) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`it is cut or damaged, as sharp says: ${reason}`)
  })

const headOf = async (file: string): Promise<Uint8Array> => {
  const handle = await openFile(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    if (bytesRead === 0) throw new Error("it is empty.")
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

const versionsOf = ({ versions }: { readonly versions: Readonly<Record<string, string | undefined>> }) =>
  Object.fromEntries(
    Object.entries(versions).flatMap(([name, version]) => (version === undefined ? [] : [[name, version]]))
  )

const encode = (picture: Sharp, format: ImageFormat, quality: number | undefined): Sharp => {
  switch (format) {
    case "avif":
      return picture.avif({ quality })
    case "jpeg":
      // JPEG has no transparency; without this, it becomes black.
      return picture.flatten({ background: "white" }).jpeg({ quality })
    case "png":
      return picture.png()
    case "webp":
      return picture.webp({ quality })
  }
}

const isJob = (message: unknown): message is Numbered =>
  typeof message === "object" && message !== null && "job" in message

process.once("disconnect", end)

start().catch((error) => fail(error))
