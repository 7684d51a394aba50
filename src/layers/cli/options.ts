/**
 * Options that several commands have, and those that stand without a command as well.
 */
import * as LogLevel from "effect/LogLevel"
import { shells } from "./completions.ts"
import * as Parameter from "./Parameter.ts"
import { logFormats } from "./terminal/log.ts"

/** They stand before a command as well as behind it, and without one. */
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

export const configOption = Parameter.text({
  name: "config",
  value: "FILE",
  description: "The configuration file. Default: vitrine.config.ts, .js or .mjs in this folder."
})

export const runDirOption = Parameter.text({
  name: "run-dir",
  value: "DIR",
  description:
    "The folder for the controller's socket, process id and log; only its user may enter it. Default: .vitrine beside the configuration."
})

export const envFileOption = Parameter.text({
  name: "env-file",
  value: "FILE",
  description:
    "A file of NAME=value lines for the environment, for tokens. What is set already stays as it is."
})

export const logFormatOption = Parameter.withDefault(
  Parameter.choice({
    name: "log-format",
    choices: logFormats,
    description: "How to log: lines for people, or JSON lines for programs. Default: text."
  }),
  "text"
)

export const jsonOption = Parameter.flag({ name: "json", description: "As JSON, for programs." })
