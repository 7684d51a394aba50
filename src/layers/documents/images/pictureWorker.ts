/**
 * The program of a process that makes pictures, one at a time: it is told what to do by messages, and answers each.
 *
 * It is a process because nothing else stops an encoder that takes too long, and because a picture that crashes the decoder ends
 * nothing but this. It has no Effect in it, so that it starts quickly.
 */
import { createHash } from "node:crypto"
import { writeFile } from "node:fs/promises"
import type { Sharp } from "sharp"
import type { ImageFormat } from "./ImageConfig.ts"
import type { Area } from "./recipe.ts"

/** What it may be told: to read the size of a picture, or to write one. */
export type Job = Look | Make

export interface Look {
  readonly job: "look"
  /** Absolute path. */
  readonly file: string
}

export interface Make {
  readonly job: "make"
  /** Absolute path. */
  readonly file: string
  /** Where it is written (absolute path). */
  readonly to: string
  /** The part of the picture, upright. Default all of it. */
  readonly area?: Area
  readonly width: number
  readonly height: number
  readonly format: ImageFormat
  readonly quality?: number
  /** How much time of the processor it may take, in milliseconds. */
  readonly limitMs: number
}

/** Said once, before all answers. */
export interface Ready {
  readonly is: "ready"
}

export type Looked = Picture | NoPicture

export interface Picture {
  readonly is: "picture"
  /** Upright, in pixels. */
  readonly width: number
  readonly height: number
  /** The libraries that would make others of it. */
  readonly versions: Readonly<Record<string, string>>
}

/** An animation or a drawing, which is left alone; or nothing that `sharp` knows. */
export interface NoPicture {
  readonly is: "left alone" | "unknown"
}

export interface Made {
  readonly is: "made"
  readonly bytes: number
  readonly sha256: string
}

export interface Failed {
  readonly is: "failed"
  readonly message: string
  /** Of the system, where it is an error of that. */
  readonly code?: string
}

const answer = (answer: Ready | Looked | Made | Failed) => process.send?.(answer)

const fail = (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  const isOfSystem = error instanceof Error && "code" in error && typeof error.code === "string"
  answer({ is: "failed", message, ...(isOfSystem ? { code: String(error.code) } : {}) })
}

const start = async () => {
  const { default: sharp } = await import("sharp")
  sharp.cache(false)
  // The bytes of AVIF depend on it.
  sharp.concurrency(1)

  const look = async ({ file }: Look): Promise<Looked> => {
    try {
      const { autoOrient, compression, format, pages = 1 } = await sharp(file).metadata()
      // HEIC, of which the head alone can be read.
      if (compression === "hevc") {
        return { is: "unknown" }
      }
      const isLeftAlone = format === "svg" || (pages > 1 && format !== "tiff")
      return isLeftAlone
        ? { is: "left alone" }
        : { is: "picture", ...autoOrient, versions: versionsOf(sharp) }
    } catch (error) {
      if (error instanceof Error && error.message.includes("unsupported image format")) {
        return { is: "unknown" }
      }
      throw error
    }
  }

  const make = async ({ area, file, format, height, quality, to, width }: Make): Promise<Made> => {
    const upright = sharp(file).autoOrient()
    const part = area === undefined ? upright : upright.extract(area)
    const resized = part.resize({ width, height, fit: "fill", withoutEnlargement: true })
    const bytes = await encode(resized, format, quality).toBuffer()
    await writeFile(to, bytes)
    return { is: "made", bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") }
  }

  process.on("message", (job: unknown) => {
    if (isJob(job)) {
      const work = job.job === "look" ? look(job) : within(job.limitMs, () => make(job))
      work.then(answer, fail)
    }
  })
  answer({ is: "ready" })
}

/** By the time of the processor: a process of low priority may have to wait for that as long as others need it. */
const within = async <A>(limitMs: number, work: () => Promise<A>): Promise<A> => {
  const start = process.cpuUsage()
  const timer = setInterval(() => {
    const { system, user } = process.cpuUsage(start)
    if ((system + user) / 1000 > limitMs) {
      const message = `it takes longer than ${Math.round(limitMs / 1000)} s of the processor's time.`
      process.send?.({ is: "failed", message } satisfies Failed, undefined, undefined, end)
    }
  }, 500)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/** Node itself would wait for what is being encoded. */
const end = () => process.kill(process.pid, "SIGKILL")

const versionsOf = ({ versions }: { readonly versions: Readonly<Record<string, string | undefined>> }) =>
  Object.fromEntries(
    Object.entries(versions).flatMap(([name, version]) => (version === undefined ? [] : [[name, version]]))
  )

const encode = (picture: Sharp, format: ImageFormat, quality: number | undefined): Sharp => {
  const options = quality === undefined ? {} : { quality }
  switch (format) {
    case "avif":
      return picture.avif(options)
    case "jpeg":
      // Black, otherwise.
      return picture.flatten({ background: "white" }).jpeg(options)
    case "png":
      return picture.png()
    case "webp":
      return picture.webp(options)
  }
}

const isJob = (message: unknown): message is Job =>
  typeof message === "object" && message !== null && "job" in message

process.once("disconnect", end)

start().catch(fail)
