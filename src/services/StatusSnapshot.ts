/**
 * The status and the global state of a controller as data, for programs with any version of Effect or none.
 */

/**
 * `task` runs one command and ends; `persistent` runs until it is stopped.
 *
 * @since 0.1.0
 * @category models
 */
export type Mode = "task" | "persistent"

/**
 * The machine that a controller runs on.
 *
 * @since 0.1.0
 * @category models
 */
export interface Node {
  /** The same for as long as the controller runs. */
  readonly id: string
  /** Its name for people. */
  readonly label?: string | undefined
  /** Its purpose, for example `hub`. */
  readonly role?: string | undefined
}

/**
 * The intervals of a day: `"10:00-18:00"`, or an array of intervals. An interval that ends before it begins passes
 * midnight: `"18:00-02:00"`.
 */
export type DayHours = string | ReadonlyArray<string>

/**
 * When a place is open: from ten minutes before each interval to ten minutes after it.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpeningHours {
  /** A name of the IANA database, for example `"Europe/Berlin"`. Default the zone of the machine. */
  readonly zone?: string | undefined
  /** A day that is left out is closed. */
  readonly mon?: DayHours | undefined
  readonly tue?: DayHours | undefined
  readonly wed?: DayHours | undefined
  readonly thu?: DayHours | undefined
  readonly fri?: DayHours | undefined
  readonly sat?: DayHours | undefined
  readonly sun?: DayHours | undefined
  /** Dates on which no interval begins, for example `"2026-12-24"`. */
  readonly closed?: ReadonlyArray<string> | undefined
}

/**
 * A screen that should show content all the time that its place is open.
 *
 * @since 0.1.0
 * @category models
 */
export interface ExpectedScreen {
  /** The id of its consumer. */
  readonly id: string
  /** Its name for people. */
  readonly label?: string | undefined
  /** If they differ from the opening hours of the whole. */
  readonly hours?: OpeningHours | undefined
  /** `false` if pictures of the screen are forbidden. */
  readonly picture?: boolean | undefined
}

/** A player that should report to this machine all the time that its place is open. */
export interface ExpectedPlayer {
  /** The id of its node. */
  readonly id: string
  /** Its name for people. */
  readonly label?: string | undefined
  /** If they differ from the opening hours of the whole. */
  readonly hours?: OpeningHours | undefined
}

/**
 * Which machine this is, and which screens and players it should have.
 *
 * @since 0.1.0
 * @category models
 */
export interface Identity {
  readonly node: Node
  /** Missing if it is always open. */
  readonly hours?: OpeningHours | undefined
  /** Missing if the configuration lists none. */
  readonly screens?: ReadonlyArray<ExpectedScreen> | undefined
  /** Missing if the configuration lists none. */
  readonly players?: ReadonlyArray<ExpectedPlayer> | undefined
}

/** A `Problem`, for programs without the schema in `Problem.ts`. */
export interface ReportedProblem {
  readonly code: string
  readonly severity: "error" | "warning"
  readonly subject?: string | undefined
  readonly player?: string | undefined
  readonly text: string
  readonly since?: string | undefined
  readonly count?: number | undefined
  readonly muted?:
    | {
        readonly name: string
        readonly until: string
        readonly by: string
        readonly why?: string | undefined
      }
    | undefined
  readonly unwatched?: string | undefined
}

/**
 * The body of `GET /state`. No secret is ever in it.
 *
 * @since 0.1.0
 * @category models
 */
export interface GlobalState<Time = string> {
  /** Other controllers, and earlier versions, may omit the identity. */
  readonly system: Partial<Identity> & {
    /** ISO 8601, UTC. */
    readonly startTime: Time
    readonly mode: Mode
  }
  readonly plugins: Readonly<Record<string, unknown>>
  /**
   * The current problems, errors first, 256 at most, each with `since` and `count`. `_version` does not grow by them.
   * Your own controllers, and controllers of earlier versions, may leave them out.
   */
  readonly problems?: ReadonlyArray<ReportedProblem> | undefined
  /** Grows by one with every change. */
  readonly _version: number
}

/**
 * Whether a row is good or bad. Left out: neither.
 *
 * @since 0.1.0
 * @category models
 */
export type Tone = "ok" | "warn" | "error" | "neutral"

/**
 * A line of the status: a label with a value, a label with rows below it, or a text.
 *
 * @since 0.1.0
 * @category models
 */
export type Row =
  | { readonly type: "kv"; readonly label: string; readonly value: string; readonly tone?: Tone | undefined }
  | { readonly type: "list"; readonly label: string; readonly items: ReadonlyArray<Row> }
  | { readonly type: "text"; readonly text: string; readonly tone?: Tone | undefined }

/**
 * The rows of one plugin, below their title.
 *
 * @since 0.1.0
 * @category models
 */
export interface Section {
  readonly name: string
  /** Lower comes first. Default 50. */
  readonly order?: number | undefined
  readonly title: string
  readonly rows: ReadonlyArray<Row>
}

/**
 * The body of `GET /status`, and the output of the status command.
 *
 * @since 0.1.0
 * @category models
 */
export interface StatusSnapshot<Time = string> {
  /** Other controllers, and earlier versions, may omit the node. */
  readonly header: {
    readonly node?: Node | undefined
    /** ISO 8601, UTC. */
    readonly startTime: Time
    readonly uptimeMs: number
    readonly mode: Mode
  }
  readonly sections: ReadonlyArray<Section>
}
