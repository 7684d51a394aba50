/**
 * Something that somebody should look at.
 *
 * Vitrine finds its own in the slices of the state; your own plugin has them in its slice, as `problems`.
 */
import * as Schema from "effect/Schema"
import { optional } from "../internal/schemas.ts"

/** That somebody has muted a problem, or several: then they are listed, and neither alert nor count. */
export const Mute = Schema.Struct({
  /** A code, a subject, a player, or all of them of one problem. */
  name: Schema.String,
  /** ISO 8601, UTC. */
  until: Schema.String,
  /** Who did it, by what they said of themselves. */
  by: Schema.String,
  why: optional(Schema.String)
})
export type Mute = typeof Mute.Type

/** What is wrong, and since when. */
export const Problem = Schema.Struct({
  /** What kind of problem it is, `content:held` for example: the same for every problem of that kind. */
  code: Schema.String,
  /** `error` where visitors see something wrong or nothing new can come, `warning` else. */
  severity: Schema.Literal("error", "warning"),
  /** What has it: the name of a content, a source, a screen, an address. Missing where the code says enough. */
  subject: optional(Schema.String),
  /** The id of the player that has reported it; missing where it is of this machine. */
  player: optional(Schema.String),
  /** One sentence, with what to do about it where that is known. Times in it are ISO 8601, UTC. */
  text: Schema.String,
  /** ISO 8601, UTC; missing where that is not known. */
  since: optional(Schema.String),
  /** How often it has begun in this run of the controller; only in the state, which counts. */
  count: optional(Schema.Number),
  /** Missing where it is not muted; only in the state, which knows. */
  muted: optional(Mute)
})
export type Problem = typeof Problem.Type
