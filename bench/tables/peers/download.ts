/**
 * Common code to download files: `node:http` with an agent that keeps connections, six at a time, each
 * response piped into its file.
 */
import { createWriteStream } from "node:fs"
import { mkdir } from "node:fs/promises"
import { Agent, get, type IncomingMessage } from "node:http"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { apiKey, baseId, view } from "../protocol.ts"
import { serve } from "./serve.ts"

interface Listing {
  readonly records: ReadonlyArray<{ readonly fields: { readonly Pictures: ReadonlyArray<Picture> } }>
}

interface Picture {
  readonly id: string
  readonly filename: string
  readonly url: string
}

const concurrency = 6

serve(async ({ directory, endpointUrl, tables }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency })
  const request = (url: string) =>
    new Promise<IncomingMessage>((resolve, reject) => get(url, { agent }, resolve).on("error", reject))

  const download = async ({ filename, id, url }: Picture) => {
    const folder = join(directory, id)
    await mkdir(folder)
    await pipeline(await request(url), createWriteStream(join(folder, filename)))
  }

  for (const table of tables) {
    const response = await fetch(`${endpointUrl}/v0/${baseId}/${table}?view=${encodeURIComponent(view)}`, {
      headers: { authorization: `Bearer ${apiKey}` }
    })
    const { records }: Listing = JSON.parse(await response.text())
    const pictures = records.flatMap(({ fields }) => fields.Pictures).values()
    const worker = async () => {
      for (const picture of pictures) {
        await download(picture)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
  }
  agent.destroy()
  return { directory, changed: true }
})
