/**
 * One conditional request for each file, six at a time, by bare undici.
 */
import * as Undici from "@effect/platform-node/Undici"
import { answer } from "../processes.ts"
import type { BareApi } from "./protocol.ts"

const agent = new Undici.Agent({ connections: 6 })

answer<BareApi>({
  ask: async ({ files, tag, url }) => {
    const before = process.cpuUsage()
    let next = 0
    const askOneByOne = async () => {
      while (next < files) {
        const { body, statusCode } = await Undici.request(`${url}/${next++}.jpg`, {
          dispatcher: agent,
          headers: { "if-none-match": tag }
        })
        await body.dump()
        if (statusCode !== 304) throw new Error(`A file has changed: HTTP ${statusCode}`)
      }
    }
    await Promise.all(Array.from({ length: 6 }, askOneByOne))
    const { system, user } = process.cpuUsage(before)
    return (system + user) / 1000
  }
})
