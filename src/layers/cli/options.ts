/**
 * The options and arguments of commands.
 */
export type CommandName =
  | "init"
  | "start"
  | "status"
  | "fleet"
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
  readonly output?: string
  readonly page?: boolean
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
