/**
 * Options that several commands have.
 */
import { logFormats } from "../terminal/log.ts"
import * as Parameter from "./Parameter.ts"

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
