/**
 * What everyone writes with `sharp`, in a process of its own: it is told a picture, and answers when both sizes are there.
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
