/**
 * One run of each scenario: processes as an operator starts them, seen from outside.
 */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { start as startProcess } from "../processes.ts"
import { bin, type Program, startProgram } from "../programs.ts"
import type { Figures, Settings } from "../scenario.ts"
import { median } from "../statistics.ts"
import { tablesFolder, withFolder } from "../tables/folders.ts"
import type { TableServerApi } from "../tables/protocol.ts"

export const programs = {
  nothing: ["-e", "0"],
  help: [bin, "--help"],
  controller: [bin, "start"],
  httpServer: [fileURLToPath(new URL("httpServer.js", import.meta.url))]
} satisfies Readonly<Record<string, Program>>

const configuration = (
  endpointUrl: string
) => `import { content, defineConfig, httpTransport, tableSource } from "vitrine"

export default defineConfig({
  plugins: [
    content({
      sources: [
        tableSource({ id: "bench", baseId: "appBench", apiKey: "any", tables: ["Objects"], endpointUrl: "${endpointUrl}" })
      ]
    }),
    httpTransport({ port: 0 })
  ]
})
`

const tables = ["Objects"]
const served = tablesFolder(tables, 100)

/** The folder of a project whose content was fetched once, with a table server for more. */
const withProject = (run: (directory: string) => Promise<Figures>): Promise<Figures> =>
  withFolder(async (directory) => {
    const server = startProcess<TableServerApi>("./tables/tableServer.js", [])
    try {
      const endpointUrl = await server.call("start", { directory: served(), tables, rateLimit: false })
      writeFileSync(join(directory, "vitrine.config.ts"), configuration(endpointUrl))
      await startProgram([bin, "fetch"], { directory, nodeArguments: [] }).ended()
      return await run(directory)
    } finally {
      await server.stop()
    }
  })

const isListening = /^listening|HTTP transport on/m

/** The time in milliseconds from the start of a program to its end, the median of this many runs. */
export const timeToEnd = (program: Program, { nodeArguments }: Settings, times: number): Promise<Figures> =>
  withFolder((directory) =>
    medianTime(times, async () => {
      await startProgram(program, { directory, nodeArguments }).ended()
      return async () => {}
    })
  )

/** The time in milliseconds from the start of the controller until it listens, the median of this many runs. */
export const timeToListen = ({ nodeArguments }: Settings, times: number): Promise<Figures> =>
  withProject((directory) =>
    medianTime(times, async () => {
      const controller = startProgram(programs.controller, { directory, nodeArguments })
      await controller.logged(isListening)
      return controller.stop
    })
  )

/** `run` is timed, and returns the clean-up. */
const medianTime = async (times: number, run: () => Promise<() => Promise<void>>): Promise<Figures> => {
  const measured: Array<number> = []
  for (let time = 0; time < times; time++) {
    const from = performance.now()
    const finish = await run()
    measured.push(performance.now() - from)
    await finish()
  }
  return { time: median(measured) }
}

/** Resident memory in MiB of a server that has been idle for this time. */
export const idleMemory = (program: Program, { nodeArguments }: Settings, idleMs: number): Promise<Figures> =>
  withProject(async (directory) => {
    const server = startProgram(program, { directory, nodeArguments })
    await server.logged(isListening)
    await sleep(idleMs)
    const kib = execFileSync("ps", ["-o", "rss=", "-p", String(server.pid)], { encoding: "utf8" })
    await server.stop()
    return { memory: Number(kib) / 1024 }
  })
