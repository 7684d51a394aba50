#!/usr/bin/env node

/**
 * Starts the command line: in one piece where that has the Effect that is installed, and else from its modules.
 *
 * Plugins of a configuration bring the Effect that is installed, and two versions of it in one process do not see
 * each other's services.
 */
import { createRequire } from "node:module"
import { isOverviewWanted, overview } from "./layers/cli/overview.ts"

const require = createRequire(import.meta.url)
const { version } = require("../package.json")

if (isOverviewWanted(process.argv.slice(2))) {
  console.log(overview(version))
} else {
  const bundle = await import("./bundle.ts")
  const { run } =
    bundle.effectVersion === require("effect/package.json").version
      ? bundle
      : await import("./commandLine.ts")
  run(version)
}
