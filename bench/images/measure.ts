/**
 * One run: a new program that makes all sizes of some pictures, and its time.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import sharp from "sharp"
import { start } from "../processes.ts"
import type { Figures, Settings } from "../scenario.ts"
import { newFolder, withFolder } from "../tables/folders.ts"
import { type PeerApi, widths } from "./protocol.ts"

/** The number of different pictures. They are reused, because differences do not change the time. */
const distinct = 10

let made: Promise<ReadonlyArray<string>> | undefined

const makePhotos = async (): Promise<ReadonlyArray<string>> => {
  const directory = newFolder()
  const photos = Array.from({ length: distinct }, (_, index) => join(directory, `${index}.jpg`))
  for (const photo of photos) {
    const noise = { type: "gaussian", mean: 128, sigma: 12 } as const
    await sharp({ create: { width: 4000, height: 3000, channels: 3, background: "grey", noise } })
      .jpeg()
      .toFile(photo)
  }
  return photos
}

/** The time in milliseconds, including the start of the workers. */
export const makeSizes = (
  peer: "vitrine" | "bare",
  { nodeArguments }: Settings,
  pictures: number
): Promise<Figures> =>
  withFolder(async (directory) => {
    made ??= makePhotos()
    const photos = await made
    const files = Array.from({ length: pictures }, (_, index) => photos[index % distinct] ?? "")
    const program = start<PeerApi>(`./images/${peer}.js`, nodeArguments)
    try {
      await program.call("ready")
      const from = performance.now()
      const count = await program.call("make", { files, directory })
      const time = performance.now() - from
      const found = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) =>
        name.endsWith(".webp")
      )
      if (count !== pictures * widths.length || found.length !== count) {
        throw new Error(`${peer} made ${found.length} files, and says ${count}`)
      }
      return { time }
    } finally {
      await program.stop()
    }
  })
