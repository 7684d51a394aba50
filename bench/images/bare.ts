/**
 * Bare `sharp`, in as many processes of the same priority as we have.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { constants, setPriority } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { answer } from "../processes.ts"
import { type PeerApi, type Plan, widths, workers } from "./protocol.ts"

const make = async ({ directory, files }: Plan) => {
  const waiting = [...files.entries()]
  const work = async () => {
    const worker = fork(fileURLToPath(new URL("bareWorker.js", import.meta.url)), { execArgv: [] })
    setPriority(worker.pid ?? 0, constants.priority.PRIORITY_LOW)
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, file] = next
      const done = once(worker, "message")
      worker.send({ file, to: join(directory, `photo${index}`) })
      await done
    }
    worker.disconnect()
  }
  await Promise.all(Array.from({ length: workers }, work))
  return files.length * widths.length
}

answer<PeerApi>({ make, ready: () => {} })
