#!/usr/bin/env node

/**
 * Reads the arguments of the process, and runs the command, normally with the Effect of the bundle.
 *
 * Plugins of a configuration use the Effect that the project has installed, and two versions of Effect in one process do not
 * see each other's services. So if a project has another release of Effect 3, the modules run with this release. If it has
 * Effect 4, the bundle runs, and reports plugins that are made with Effect 4.
 */
import { createRequire } from "node:module"
import { CommanderError } from "commander"
import { type Given, makeProgram } from "./layers/cli/program.ts"
import { quickStatus } from "./layers/cli/quickStatus.ts"
import { hasPeers, installedVersion } from "./peers.ts"

const require = createRequire(import.meta.url)

const isInBundle = () => require("./bundle.json").effectVersion === installedVersion("effect")

const run = async (given: Given) => {
  if (await quickStatus(given)) {
    return
  }
  const { run } = isInBundle() || !hasPeers() ? await import("./bundle.ts") : await import("./commandLine.ts")
  run(given)
}

/**
 * A log that cannot be written does not end the command. If the reader of the output goes away, the command ends without a failure.
 * If output cannot be written for another reason, for example to a full disk, the command fails.
 */
const outliveOutput = () => {
  process.stderr.on("error", () => {})
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE") {
      console.error(`The output cannot be written. ${message}`)
      process.exitCode = 1
    }
    process.exit()
  })
}

const args = process.argv.slice(2)

outliveOutput()
try {
  const program = makeProgram(require("../package.json").version, run)
  await program.parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" })
} catch (error) {
  if (!(error instanceof CommanderError)) {
    throw error
  }
  process.exitCode = error.exitCode
}
