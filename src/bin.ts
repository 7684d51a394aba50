#!/usr/bin/env node

/**
 * Starts the command line: in one piece where that has the Effect that is installed, and else from its modules.
 *
 * Plugins of a configuration bring the Effect that is installed, and two versions of it in one process do not see
 * each other's services.
 */
import { createRequire } from "node:module"

const require = createRequire(import.meta.url)
const { version } = require("../package.json")

const bundle = await import("./bundle.ts")
const { run } =
  bundle.effectVersion === require("effect/package.json").version ? bundle : await import("./commandLine.ts")
run(version)
