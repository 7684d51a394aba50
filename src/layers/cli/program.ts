/**
 * The commands of the command line with their options and arguments. What they do is loaded when one of them runs.
 */
import { Argument, Command, Option } from "commander"
import type { ScreenAction } from "../../services/ScreenActions.ts"
import { type Arguments, type CommandName, logFormats, logLevels, type Options } from "./options.ts"

/** What the command line was asked to run. */
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
  "A file of NAME=value lines for the environment, for tokens. What is set already stays as it is."
)

const logFormat = new Option("--log-format <FORMAT>", "Log lines for people, or JSON lines for programs.")
  .choices(logFormats)
  .default("text")

const json = new Option("--json", "Print JSON, for programs.")

const watch = new Option("--watch", "Go on showing it, once a second, until Ctrl-C.")

const content = new Option("--content <NAME>", "Which content, where the configuration has several.")

const ofController = [config, envFile, logFormat, runDir]

const ofContent = [...ofController, content]

/** Mistakes and requests for help or the version are thrown as a `CommanderError`, when their text is printed. */
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
    "Begin a project: an example with a folder of content. Nothing is overwritten.",
    new Option("--page", "Also make a page that shows the content, which the controller serves."),
    new Option("--vite", "The same as a project of Vite, in TypeScript."),
    new Option("--react", "The same as a project of Vite, with React.")
  ).argument("[DIR]", "The folder of the project.", ".")

  command(
    "start",
    "Run the controller, until Ctrl-C, SIGTERM or vitrine stop.",
    ...ofController,
    new Option("--detach", "Go on in the background, and return when it is ready. The log goes to a file."),
    new Option(
      "--log-file <FILE>",
      "Log to this file; at 5 MiB a new one is begun, and four old ones are kept. Default: standard error, or controller.log in the folder of the socket with --detach."
    ),
    new Option(
      "--dev-server",
      "A dev server has the page, so that no build of it is needed. The plugin for Vite adds it."
    )
  )

  command(
    "status",
    "Show what the running controller says of itself.",
    config,
    runDir,
    content,
    json,
    watch,
    new Option("--check", "End with exit status 1 where something fails, 3 where only the last fetch has.")
  )

  command(
    "fleet",
    "Show the players that report to this machine, the worst first.",
    config,
    runDir,
    json,
    watch,
    new Option("--check", "End with exit status 1 where a player fails.")
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
    new Option("--why <TEXT>", "For others to see."),
    new Option("--by <NAME>", "Who asks, for others to see. Default: this user."),
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
    "Fetch without showing anything: say what it would change, or what a source has.",
    ...ofContent,
    json
  ).argument(
    "[SOURCE]",
    "The id of a source: says what is in the first page of each of its documents. Default: all are fetched."
  )

  command(
    "verify",
    "Read the files of a version, and list those that are not as they were written.",
    ...ofContent
  ).argument("[VERSION]", "The id of a version on disk. Default: the active one.")

  command(
    "versions",
    "List the versions on disk: which is active, what waits, and who shows what.",
    ...ofContent,
    json
  )

  command("diff", "Show what is different in two versions: records, fields and files.", ...ofContent, json)
    .argument("[A]", "The id of a version on disk. Default: the one before B; the active one, where B waits.")
    .argument("[B]", "The version that is compared with it. Default: the latest one.")

  command(
    "rollback",
    "Go back to an older version, which stays until vitrine resume.",
    ...ofContent
  ).argument(
    "[VERSION]",
    "The id of a version on disk. Default: the newest that is older than the active one."
  )

  command(
    "hold",
    "Keep the active version until vitrine resume, or a time; newer ones are fetched, and wait.",
    ...ofContent,
    new Option(
      "--until <TIME>",
      'When the latest version is shown: "2026-12-01 09:00", "18:00", "2 hours". Times are those of the zone in "hours", or of the machine.'
    )
  )

  command(
    "release",
    "Show the version that waits, or another one; newer ones wait again.",
    ...ofContent
  ).argument("[VERSION]", "The id of a version on disk. Default: the one that waits.")

  command("resume", "End the hold: the latest version is shown.", ...ofContent)

  command(
    "screen",
    "Ask a screen to load its page again, or to show its name for ten seconds.",
    config,
    runDir,
    content
  )
    .addArgument(
      new Argument("<ACTION>", "What the screen is to do.").choices([
        "reload",
        "identify"
      ] satisfies Array<ScreenAction>)
    )
    .argument("<ID>", "The id of the screen; at a hub, PLAYER/SCREEN for one of a player.")

  command(
    "types",
    "Write the TypeScript types of the content for pages, to vitrine.d.ts.",
    config,
    envFile,
    new Option("--output <FILE>", "The file to write. Default: vitrine.d.ts beside the configuration."),
    new Option("--watch", "Go on, and write it again when the configuration or the content has changed.")
  )

  command(
    "stop",
    "Ask the running controller to end, and wait for it; what does not end within five seconds is named.",
    config,
    runDir
  )

  return program
}
