/**
 * Common code with `sharp` in its own process: it gets a picture, and answers when both sizes exist.
 */
import sharp from "sharp"
import { widths } from "./protocol.ts"

sharp.cache(false)
sharp.concurrency(1)

process.on("message", async ({ file, to }: { readonly file: string; readonly to: string }) => {
  for (const width of widths) {
    await sharp(file)
      .autoOrient()
      .resize({ width, withoutEnlargement: true })
      .webp()
      .toFile(`${to}-${width}.webp`)
  }
  process.send?.("done")
})
process.on("disconnect", () => process.exit())
