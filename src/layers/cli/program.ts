/**
 * The commands of the command line with their options and arguments. The code of a command is loaded when it runs.
 */
import { Argument, Command, Option } from "commander"
import type { ScreenAction } from "../../services/ScreenActions.ts"
import { type Arguments, type CommandName, logFormats, logLevels, type Options } from "./options.ts"

/** A command with its options and arguments. */
export interface Given {
  readonly name: CommandName
  readonly options: Options
  readonly args: Arguments
}

const config = new Option(
  "--config <FILE>",
  "The configuration file. Default: vitrine.config.ts, .js or .mjs in this folder."
)

const runDir = new Option(
  "--run-dir <DIR>",
  "The folder for the controller's socket, process id and log; only its user may enter it. Default: .vitrine beside the configuration."
)

const envFile = new Option(
  "--env-file <FILE>",
  "A file of NAME=value lines for the environment, for tokens. Variables that are set already keep their values."
)

const logFormat = new Option("--log-format <FORMAT>", "Log lines for people, or JSON lines for programs.")
  .choices(logFormats)
  .default("text")

const json = new Option("--json", "Print JSON, for programs.")

const watch = new Option("--watch", "Show it again every second, until Ctrl-C.")

const content = new Option("--content <NAME>", "The content, if the configuration has several.")

const ofController = [config, envFile, logFormat, runDir]

const ofContent = [...ofController, content]

/** Throws a `CommanderError` for mistakes and for help or the version, after their text is printed. */
export const makeProgram = (version: string, run: (given: Given) => void | Promise<void>): Command => {
  const program = new Command("vitrine")
    .description("Content delivery for installations")
    .version(version, "--version", "Print the version.")
    .helpOption("-h, --help", "Print how to use the command.")
    .addOption(
      new Option(
        "--log-level <LEVEL>",
        'The least important messages that are logged. "debug" adds detail and stack traces.'
      ).choices(logLevels)
    )
    .helpCommand("help [command]", "Print how to use a command.")
    .addHelpText("after", "\nThe exit status is 0 on success and 1 on failure.")
    .showHelpAfterError("See: vitrine --help")
    .exitOverride()

  const command = (name: CommandName, description: string, ...options: ReadonlyArray<Option>): Command => {
    const command = program
      .command(name)
      .description(description)
      .showHelpAfterError(`See: vitrine ${name} --help`)
      .action(() => run({ name, options: command.optsWithGlobals<Options>(), args: command.processedArgs }))
    for (const option of options) {
      command.addOption(option)
    }
    return command
  }

  command(
    "init",
    "Create an example project with a folder of content. Nothing is overwritten.",
    new Option("--page", "Also make a page that shows the content, which the controller serves."),
    new Option("--vite", "The same as a project of Vite, in TypeScript."),
    new Option("--react", "The same as a project of Vite, with React.")
  ).argument("[DIR]", "The folder of the project.", ".")

  command(
    "start",
    "Run the controller, until Ctrl-C, SIGTERM or vitrine stop.",
    ...ofController,
    new Option("--detach", "Run in the background, and return when it is ready. The log goes to a file."),
    new Option(
      "--log-file <FILE>",
      "Log to this file. At 5 MiB a new file begins; four old files are kept. Default: standard error, or controller.log in the folder of the socket with --detach."
    ),
    new Option(
      "--dev-server",
      "A dev server serves the page, so that it needs no build. The plugin for Vite adds it."
    )
  )

  command(
    "status",
    "Show the status of the running controller.",
    config,
    runDir,
    content,
    json,
    watch,
    new Option("--check", "End with exit status 1 if something fails, 3 if only the last fetch has failed.")
  )

  command(
    "fleet",
    "Show the players that report to this machine, the worst first.",
    config,
    runDir,
    json,
    watch,
    new Option("--check", "End with exit status 1 if a player fails.")
  )

  command(
    "mute",
    "Send no alerts about a problem or a player for a while, or list what is muted.",
    config,
    runDir,
    new Option(
      "--until <TIME>",
      'A time such as 18:00 or 2026-12-01T09:00, or a duration such as "2 hours".'
    ),
    new Option("--why <TEXT>", "The reason, for others to see."),
    new Option("--by <NAME>", "Your name, for others to see. Default: this user."),
    new Option("--end", "End it now.")
  ).argument(
    "[NAME]",
    'A code, a subject, a player, or one problem: "CODE SUBJECT" or "PLAYER CODE SUBJECT". Default: what is muted is listed.'
  )

  command(
    "fetch",
    "Fetch the content once: in the controller that runs, or else here, and end.",
    ...ofContent
  )

  command(
    "check",
    "Fetch without saving anything: print what would change, or what a source has.",
    ...ofContent,
    json
  ).argument(
    "[SOURCE]",
    "The id of a source: prints the first page of each of its documents. Default: all sources are fetched."
  )

  command(
    "verify",
    "Read the files of a version, and list files that differ from when they were written.",
    ...ofContent
  ).argument("[VERSION]", "The id of a version on disk. Default: the active version.")

  command(
    "versions",
    "List the versions on disk: which is active, which waits, and which screens show them.",
    ...ofContent,
    json
  )

  command("diff", "Show the differences between two versions: records, fields and files.", ...ofContent, json)
    .argument(
      "[A]",
      "The id of a version on disk. Default: the version before B, or the active version if B waits."
    )
    .argument("[B]", "The version to compare with A. Default: the latest version.")

  command(
    "rollback",
    "Go back to an older version, which stays until vitrine resume.",
    ...ofContent
  ).argument(
    "[VERSION]",
    "The id of a version on disk. Default: the newest version before the active version."
  )

  command(
    "hold",
    "Keep the active version until vitrine resume, or a time; newer versions are fetched, and wait.",
    ...ofContent,
    new Option(
      "--until <TIME>",
      'When the latest version is shown: "2026-12-01 09:00", "18:00", "2 hours". Times are in the zone of "hours", or of the machine.'
    )
  )

  command(
    "release",
    "Show the waiting version, or another version; newer versions wait again.",
    ...ofContent
  ).argument("[VERSION]", "The id of a version on disk. Default: the waiting version.")

  command("resume", "End the hold: the latest version is shown.", ...ofContent)

  command(
    "screen",
    "Ask a screen to load its page again, or to show its name for ten seconds.",
    config,
    runDir,
    content
  )
    .addArgument(
      new Argument("<ACTION>", "The action to ask for.").choices([
        "reload",
        "identify"
      ] satisfies Array<ScreenAction>)
    )
    .argument("<ID>", "The id of the screen; at a hub, PLAYER/SCREEN for a screen of a player.")

  command(
    "types",
    "Write the TypeScript types of the content for pages, to vitrine.d.ts.",
    config,
    envFile,
    new Option("--output <FILE>", "The file to write. Default: vitrine.d.ts beside the configuration."),
    new Option("--watch", "Keep running, and write it again when the configuration or the content changes.")
  )

  command(
    "stop",
    "Ask the running controller to end, and wait for it. Parts that do not end within five seconds are named.",
    config,
    runDir
  )

  return program
}
