/**
 * The option that names the configuration.
 */
import * as Options from "@effect/cli/Options"

export const configOption = Options.file("config").pipe(
  Options.withDescription("The configuration file. Default: vitrine.config.ts, .js or .mjs in this folder."),
  Options.optional
)
