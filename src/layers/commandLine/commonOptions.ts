/**
 * Options that several commands have.
 */
import * as Options from "@effect/cli/Options"
import { logFormats } from "../terminal/log.ts"

export const configOption = Options.file("config").pipe(
  Options.withDescription("The configuration file. Default: vitrine.config.ts, .js or .mjs in this folder."),
  Options.optional
)

export const runDirOption = Options.directory("run-dir").pipe(
  Options.withDescription(
    "The folder for the controller's socket, process id and log; only its user may enter it. Default: .vitrine beside the configuration."
  ),
  Options.optional
)

export const envFileOption = Options.file("env-file").pipe(
  Options.withDescription(
    "A file of NAME=value lines for the environment, for tokens. What is set already stays as it is."
  ),
  Options.optional
)

export const logFormatOption = Options.choice("log-format", logFormats).pipe(
  Options.withDescription("How to log: lines for people, or JSON lines for programs. Default: text."),
  Options.withDefault("text" as const)
)
