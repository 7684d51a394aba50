/**
 * The commands of the command line with their options and arguments. What they do is loaded when one of them runs.
 */
import { Argument, Command, Option } from "commander"
import type { ScreenAction } from "../../services/AskedScreen.ts"

export type CommandName =
  | "init"
  | "start"
  | "status"
  | "fleet"
  | "accept"
  | "mute"
  | "fetch"
  | "check"
  | "verify"
  | "versions"
  | "diff"
  | "rollback"
  | "hold"
  | "release"
  | "resume"
  | "screen"
  | "types"
  | "stop"

/** The options of all commands; an option that was not given is absent. */
export interface Options {
  readonly by?: string
  readonly check?: boolean
  readonly config?: string
  readonly content?: string
  readonly detach?: boolean
  readonly devServer?: boolean
  readonly end?: boolean
  readonly envFile?: string
  readonly json?: boolean
  readonly logFile?: string
  readonly logFormat?: LogFormat
  readonly logLevel?: LogLevelName
  readonly out?: string
  readonly output?: string
  readonly page?: boolean
  readonly privateFile?: string
  readonly react?: boolean
  readonly runDir?: string
  readonly until?: string
  readonly vite?: boolean
  readonly watch?: boolean
  readonly why?: string
}

/** The arguments in order; an argument that was not given is `undefined`. */
export type Arguments = ReadonlyArray<string | undefined>

export const logFormats = ["text", "json"] as const
export type LogFormat = (typeof logFormats)[number]

/** The levels in `LogLevel.allLevels` of Effect. */
export const logLevels = ["all", "trace", "debug", "info", "warning", "error", "fatal", "none"] as const
export type LogLevelName = (typeof logLevels)[number]

/** What the command line was asked to run. */
export interface Given {
  readonly name: CommandName
  readonly options: Options
  readonly args: Arguments
}

const config = new Option(
  "--config <FILE>",
  "The configuration. Default: vitrine.config.ts, .js or .mjs in this folder."
)

const runDir = new Option(
  "--run-dir <DIR>",
  "The folder for socket, process id and log of the controller; only its user may enter it. Default: .vitrine beside the configuration."
)

const envFile = new Option(
  "--env-file <FILE>",
  "A file of NAME=value lines for the environment, for tokens. Variables that are set keep their value."
)

const logFormat = new Option("--log-format <FORMAT>", "Log lines for people, or one JSON object a line.")
  .choices(logFormats)
  .default("text")

const json = new Option("--json", "Print JSON, for programs.")

const watch = new Option(
  "--watch",
  "Repeat it once a second until Ctrl-C, and wait for a controller to start."
)

const content = new Option("--content <NAME>", "The content, if the configuration has several.")

const ofController = [config, envFile, logFormat, runDir]

const ofContent = [...ofController, content]

/** The tables of docs/operate.md are made of these texts. Mistakes and requests for help or the version are thrown as a `CommanderError`, when their text is printed. */
export const makeProgram = (version: string, run: (given: Given) => void | Promise<void>): Command => {
  const program = new Command("vitrine")
    .description("Content delivery for installations")
    .version(version, "--version", "Print the version.")
    .helpOption("-h, --help", "Print the usage of the command.")
    .addOption(
      new Option(
        "--log-level <LEVEL>",
        "The lowest level that is logged; debug adds detail and stack traces."
      ).choices(logLevels)
    )
    .helpCommand("help [command]", "Print the usage of a command.")
    .addHelpText("after", "\nThe exit status is 0 on success and 1 on failure.")
    .showHelpAfterError("See: vitrine --help")
    .exitOverride()

  const command: AddCommand = (name, description, ...options) => {
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

  for (const describe of [describeStart, describeReports, describeVersions, describeHolds, describeOthers]) {
    describe(command)
  }
  return program
}

/** Adds a command to the program. */
type AddCommand = (name: CommandName, description: string, ...options: ReadonlyArray<Option>) => Command

/** To begin a project, and to run it. */
const describeStart = (command: AddCommand): void => {
  command(
    "init",
    "Begin a project: an example with a folder of content. Existing files are kept.",
    new Option("--page", "Add a page that shows the content, served by the controller."),
    new Option("--vite", "Add the same page as a project of Vite, in TypeScript."),
    new Option("--react", "Add the same page as a project of Vite, with React.")
  ).argument("[DIR]", "The folder of the project.", ".")

  command(
    "start",
    "Run the controller until Ctrl-C, SIGTERM or vitrine stop.",
    ...ofController,
    new Option(
      "--detach",
      "Run in the background. Returns when the controller is ready, or with the reason why it is not."
    ),
    new Option(
      "--log-file <FILE>",
      "Log to this file. It is rotated at 5 MiB, with four old files. Default: standard error; with --detach, controller.log in the folder of --run-dir."
    ),
    // The controller in the background has the variables of the environment file already.
    new Option("--private-file <FILE>", "A file that must not be published.").hideHelp(),
    new Option(
      "--dev-server",
      "A dev server serves the page, so that no build is needed. The plugin for Vite adds this option."
    )
  )
}

/** What the controller reports, and which problems are muted. */
const describeReports = (command: AddCommand): void => {
  command(
    "status",
    "Show in one word whether all is well, then the problems and details of the running controller.",
    config,
    runDir,
    new Option(
      "--content <NAME>",
      "The content whose last fetch --check looks at, if the configuration has several."
    ),
    json,
    watch,
    new Option(
      "--check",
      "Exit with 1 if the word is FAILING or NO CONTENT, with 3 if only the last fetch failed."
    )
  )

  command(
    "fleet",
    "At a hub, show its players and their screens, the worst first.",
    config,
    runDir,
    json,
    watch,
    new Option("--check", "Exit with 1 if a player has an error.")
  )

  command(
    "accept",
    "Accept what a warning about the content says: it is not given again, unless it ends and begins anew.",
    config,
    runDir,
    new Option("--by <NAME>", "Who accepts it, for the log. Default: this user.")
  )
    .argument("[CODE]", "The code of the warning. Default: lists what can be accepted.")
    .argument("[SUBJECT]", "Its subject, as the list and vitrine status print it.")

  command(
    "mute",
    "Stop alerts about a problem or a player for a while, or list what is muted.",
    config,
    runDir,
    new Option("--until <TIME>", 'When it ends: 18:00, "2026-12-01 09:00" or "2 hours".'),
    new Option("--why <TEXT>", "The reason, for others to see."),
    new Option("--by <NAME>", "Who mutes it, for others to see. Default: this user."),
    new Option("--end", "End it now.")
  ).argument(
    "[NAME]",
    'A code, a subject, a player, or one problem: "CODE SUBJECT" or "PLAYER CODE SUBJECT". Default: lists what is muted.'
  )
}

/** To fetch, check and compare versions. */
const describeVersions = (command: AddCommand): void => {
  command("fetch", "Fetch the content once, in the running controller or else in this process.", ...ofContent)

  command(
    "check",
    "Fetch without publishing: list what is not as expected, or what a fetch would change. A configuration that has changed since the start is checked as it is, beside the running controller.",
    ...ofContent,
    json
  ).argument(
    "[SOURCE]",
    "The id of a source: reads the first page of its documents, and lists their fields, types and links to files. Default: all sources are fetched."
  )

  command("verify", "Read all files of a version, and list the damaged files.", ...ofContent).argument(
    "[VERSION]",
    "The id of a version on disk. Default: the active version."
  )

  command(
    "versions",
    "List the versions on disk: which version is active, which version waits, and which screens show them.",
    ...ofContent,
    json
  )

  command("diff", "List the differences of two versions: records, fields and files.", ...ofContent, json)
    .argument(
      "[A]",
      "The id of a version on disk. Default: the version before B; if B waits, the active version."
    )
    .argument("[B]", "The version that A is compared with. Default: the latest version.")
}

/** Which version is shown. */
const describeHolds = (command: AddCommand): void => {
  command(
    "rollback",
    "Show an older version, and hold it until somebody resumes. Newer versions are fetched, and wait.",
    ...ofContent
  ).argument(
    "[VERSION]",
    "The id of a version on disk. Default: the newest version that is older than the active version."
  )

  command(
    "hold",
    "Keep the active version on the screens until somebody resumes, or until a time. Newer versions are fetched, and wait.",
    ...ofContent,
    new Option(
      "--until <TIME>",
      'When it ends: 18:00, "2026-12-01 09:00" or "2 hours". Times are those of the zone in "hours", or of the machine.'
    )
  )

  command("release", "Show the version that waits. Newer versions wait again.", ...ofContent).argument(
    "[VERSION]",
    "The id of a version on disk. Default: the version that waits."
  )

  command(
    "resume",
    "End the hold, and show the latest version. New versions are shown as before the hold.",
    ...ofContent
  )
}

/** Screens, types, and the end. */
const describeOthers = (command: AddCommand): void => {
  command(
    "screen",
    "Ask a screen to load its page again, or to show its name for ten seconds, large enough to be found in the hall, or take a picture of what it shows. Waits until the screen has done it, for two minutes at most, and for a picture 90 seconds.",
    config,
    runDir,
    content,
    new Option(
      "--out <FILE>",
      "The file for a picture. Default: the id of the screen, with .jpg, in this folder."
    )
  )
    .addArgument(
      new Argument("<ACTION>", "What the screen does.").choices([
        "reload",
        "identify",
        "picture"
      ] satisfies Array<ScreenAction | "picture">)
    )
    .argument("<ID>", "The id of the screen; at a hub, PLAYER/SCREEN for a screen of a player.")

  command(
    "types",
    "Write the TypeScript types of the tables, for pages. No controller needs to run.",
    config,
    envFile,
    new Option("--output <FILE>", "The file to write. Default: vitrine.d.ts beside the configuration."),
    new Option("--watch", "Write the file again when the configuration or the content changes.")
  )

  command(
    "stop",
    "Stop the running controller. If it does not end within five seconds, print its process and what to type.",
    config,
    runDir
  )
}
