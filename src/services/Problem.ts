/**
 * A problem that somebody should look at.
 *
 * Vitrine finds its own problems in the slices of the state; your own plugin has them in its slice, as `problems`.
 */
import * as Schema from "effect/Schema"
import { optional } from "../internal/schemas.ts"

/**
 * A mute of one problem or several: muted problems are listed, but cause no alert and do not count.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Mute = Schema.Struct({
  /** A code, a subject, a player, or all of these of one problem. */
  name: Schema.String,
  /** ISO 8601, UTC. */
  until: Schema.String,
  /** Who muted it, as they call themselves. */
  by: Schema.String,
  why: optional(Schema.String)
})
export type Mute = typeof Mute.Type

/** The longest name of a mute, in characters. A longer name is refused: shortened, it could be another name. */
const maxName = 512

const name = Schema.NonEmptyString.pipe(Schema.maxLength(maxName))

const text = optional(Schema.String)

/**
 * The command that mutes problems. The result is the mute, and how many current problems it is about.
 *
 * @since 0.1.0
 * @category commands
 */
export const muteProblem = {
  type: "problem.mute",
  fields: Schema.Struct({ name, until: Schema.String, by: text, why: text }),
  /** `problems`: how many there are now. `isKept` is false if the disk does not accept it: then a restart ends it. */
  success: Schema.Struct({ ...Mute.fields, problems: Schema.Number, isKept: optional(Schema.Boolean) })
}

/**
 * The command that ends a mute.
 *
 * @since 0.1.0
 * @category commands
 */
export const unmuteProblem = {
  type: "problem.unmute",
  fields: Schema.Struct({ name, by: text }),
  success: Schema.Null
}

/**
 * What is wrong, and since when.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Problem = Schema.Struct({
  /** The kind of the problem, for example `content:held`: the same for every problem of this kind. */
  code: Schema.String,
  /** `error` if visitors see something wrong or no new content can come, else `warning`. */
  severity: Schema.Literal("error", "warning"),
  /**
   * The thing that has the problem: the name of a content, a source, a screen, an address. Missing if the code says
   * enough.
   */
  subject: optional(Schema.String),
  /** The id of the player that has reported it; missing for a problem of this machine. */
  player: optional(Schema.String),
  /** One sentence, with what to do about it if that is known. Times in it are ISO 8601, UTC. */
  text: Schema.String,
  /** ISO 8601, UTC; missing if it is not known. */
  since: optional(Schema.String),
  /** How often it has begun in this run of the controller. Only the state has it. */
  count: optional(Schema.Number),
  /** Missing if it is not muted. Only the state has it. */
  muted: optional(Mute),
  /**
   * Why nobody can say any more whether it continues: `closed`, `forgotten`, `stopped`. It is listed, but does not count.
   * Only the state has it.
   */
  unwatched: optional(Schema.String),
  /**
   * The type of the command that accepts it, with its code and subject as fields; missing if nobody can accept it. Only
   * the state has it.
   */
  accept: optional(Schema.String)
})
export type Problem = typeof Problem.Type
