/**
 * What there is, on one screen.
 */

/** How a command is called, and what it does. */
export interface CommandHelp {
  readonly usage: string
  readonly description: string
}

export const overview = (version: string, commands: ReadonlyArray<CommandHelp>): string => {
  const width = Math.max(...commands.map(({ usage }) => usage.length))
  return `vitrine ${version}: content delivery for installations

${commands.map(({ description, usage }) => `  vitrine ${usage.padEnd(width)}  ${description}`).join("\n")}

  vitrine COMMAND --help        the options of a command
  vitrine --completions SHELL   a completion script for bash, zsh, fish or sh
  vitrine --log-level LEVEL …   "debug" adds detail and stack traces
  vitrine --version

The configuration is vitrine.config.ts, .js or .mjs in this folder, or --config FILE.
The exit status is 0 on success and 1 on failure.`
}
