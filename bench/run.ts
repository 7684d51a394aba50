/**
 * Transport, table source, media, sizes of pictures, folders, the program as a whole and a venue beside their peers: `npm run bench`.
 *
 *     --quick           one short run of everything, to try it out
 *     --only a,b        these scenarios only
 *     --profile DIR     write CPU profiles of the measured processes to DIR
 */
import { execFileSync } from "node:child_process"
import { parseArgs } from "node:util"
import * as folder from "./folder/scenarios.ts"
import * as images from "./images/scenarios.ts"
import * as media from "./media/scenarios.ts"
import { killAll } from "./processes.ts"
import * as program from "./program/scenarios.ts"
import * as report from "./report.ts"
import type { Figures, Scenario } from "./scenario.ts"
import { median } from "./statistics.ts"
import { removeFolders } from "./tables/folders.ts"
import * as tables from "./tables/scenarios.ts"
import * as transport from "./transport/scenarios.ts"
import * as venue from "./venue/scenarios.ts"

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    profile: { type: "string" }
  }
})

const runs = values.quick ? 1 : 5
const limitMs = 30 * 60_000
const neededFiles = 4200

const end = (message: string): never => {
  killAll()
  removeFolders()
  console.error(message)
  process.exit(1)
}

const checkFileLimit = () => {
  const limit = execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim()
  if (limit !== "unlimited" && Number(limit) < neededFiles) {
    end(
      `Up to 4000 connections need ${neededFiles} open files, and only ${limit} are allowed: ulimit -n ${neededFiles}`
    )
  }
}

/** Runs all variants of a scenario in turn, again and again, so that other work of the machine disturbs all equally. */
const runAll = async ({ name, together, variants }: Scenario): Promise<Map<string, Array<Figures>>> => {
  const results = new Map(variants.map(({ label }): [string, Array<Figures>] => [label, []]))
  const pending: Array<Promise<unknown>> = []
  for (let run = 0; run < runs; run++) {
    for (const variant of variants) {
      if (run < (variant.runs ?? runs)) {
        process.stderr.write(`${name}: ${variant.label}, run ${run + 1}\n`)
        const running = variant.run().then((figures) => results.get(variant.label)?.push(figures))
        if (together) {
          pending.push(running)
        } else {
          await running
        }
      }
    }
  }
  await Promise.all(pending)
  return results
}

const medians =
  (results: Map<string, Array<Figures>>): report.Medians =>
  (label, figure) =>
    median((results.get(label) ?? []).map((figures) => figures[figure] ?? Number.NaN))

process.once("SIGINT", () => end("Interrupted."))
process.once("SIGTERM", () => end("Terminated."))
setTimeout(() => end("The benchmark took too long."), limitMs).unref()

checkFileLimit()
const settings = {
  nodeArguments: values.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${values.profile}`]
}
const only = values.only?.split(",")
try {
  const parts: Array<report.MeasuredPart> = []
  for (const part of [transport, tables, media, images, folder, program, venue].map(({ make }) =>
    make(values.quick, settings)
  )) {
    const scenarios: Array<report.Measured> = []
    for (const scenario of part.scenarios.filter(({ name }) => only?.includes(name) ?? true)) {
      scenarios.push({ scenario, medians: medians(await runAll(scenario)) })
    }
    if (scenarios.length > 0) {
      parts.push({ part, scenarios })
    }
  }
  removeFolders()
  console.log(report.text(parts, runs))
} catch (error) {
  end(String(error))
}
