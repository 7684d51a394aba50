/**
 * Options that stand before a command as well as behind it, and without one.
 */
import * as LogLevel from "effect/LogLevel"
import { shells } from "./completions.ts"
import * as Parameter from "./Parameter.ts"

export const globalOptions = {
  logLevel: Parameter.choice({
    name: "log-level",
    description: 'The least important messages that are logged. "debug" adds detail and stack traces.',
    choices: LogLevel.allLevels.map(({ _tag }) => _tag.toLowerCase())
  }),
  completions: Parameter.choice({
    name: "completions",
    description: "Print a completion script for the shell.",
    choices: shells
  }),
  help: Parameter.flag({ name: "help", description: "Show how to use the command." }),
  version: Parameter.flag({ name: "version", description: "Show the version." })
}
