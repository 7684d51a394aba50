/**
 * What there is, on one screen. It needs nothing else of the command line, which takes far longer to load.
 */

/** How each command is called, and what it does. */
export const commands = {
  init: {
    usage: "init [DIR]",
    description: "Begin a project: an example with a folder of content. Nothing is overwritten."
  },
  start: {
    usage: "start",
    description: "Run the controller, until Ctrl-C, SIGTERM or vitrine stop."
  },
  status: {
    usage: "status",
    description: "Show what the running controller says of itself."
  },
  fleet: {
    usage: "fleet",
    description: "Show the players that report to this machine, the worst first."
  },
  fetch: {
    usage: "fetch",
    description: "Fetch the content once: in the controller that runs, or else here, and end."
  },
  check: {
    usage: "check [SOURCE]",
    description: "Fetch without showing anything: say what it would change, or what a source has."
  },
  verify: {
    usage: "verify [VERSION]",
    description: "Read the files of a version, and list those that are not as they were written."
  },
  versions: {
    usage: "versions",
    description: "List the versions on disk: which is active, what waits, and who shows what."
  },
  diff: {
    usage: "diff [A [B]]",
    description: "Show what is different in two versions: records, fields and files."
  },
  rollback: {
    usage: "rollback [VERSION]",
    description: "Go back to an older version, which stays until vitrine resume."
  },
  hold: {
    usage: "hold",
    description: "Keep the active version until vitrine resume; newer ones are fetched, and wait."
  },
  release: {
    usage: "release [VERSION]",
    description: "Show the version that waits, or another one; newer ones wait again."
  },
  resume: {
    usage: "resume",
    description: "End the hold: the latest version is shown."
  },
  types: {
    usage: "types",
    description: "Write the TypeScript types of the content for pages, to vitrine.d.ts."
  },
  stop: {
    usage: "stop",
    description: "End the running controller: gracefully, and firmly after five seconds."
  },
  watch: {
    usage: "watch ACTION [WEBHOOK]",
    description: "Create, list or remove webhooks that list what changes in a hosted base."
  }
}

/** Whether these are the arguments of somebody who wants to know what there is. */
export const isOverviewWanted = ([first, second]: ReadonlyArray<string>): boolean =>
  first === undefined || first === "--help" || first === "-h" || (first === "help" && second === undefined)

export const overview = (version: string): string => {
  const all = Object.values(commands)
  const width = Math.max(...all.map(({ usage }) => usage.length))
  return `vitrine ${version}: content delivery for installations

${all.map(({ description, usage }) => `  vitrine ${usage.padEnd(width)}  ${description}`).join("\n")}

  vitrine COMMAND --help        the options of a command
  vitrine --completions SHELL   a completion script for bash, zsh, fish or sh
  vitrine --log-level LEVEL …   "debug" adds detail and stack traces
  vitrine --version

The configuration is vitrine.config.ts, .js or .mjs in this folder, or --config FILE.
The exit status is 0 on success and 1 on failure.`
}
