/**
 * Something that somebody should look at.
 *
 * Vitrine finds its own in the slices of the state; your own plugin has them in its slice, as `problems`.
 */
import * as Schema from "effect/Schema"

/** That somebody has muted a problem, or several: then they are listed, and neither alert nor count. */
export const Mute = Schema.Struct({
  /** A code, a subject, a player, or all of them of one problem. */
  name: Schema.String,
  /** ISO 8601, UTC. */
  until: Schema.String,
  /** Who did it, by what they said of themselves. */
  by: Schema.String,
  why: Schema.optionalWith(Schema.String, { exact: true })
})
export type Mute = typeof Mute.Type

/** What is wrong, and since when. */
export const Problem = Schema.Struct({
  /** What kind of problem it is, `content:held` for example: the same for every problem of that kind. */
  code: Schema.String,
  /** `error` where visitors see something wrong or nothing new can come, `warning` else. */
  severity: Schema.Literal("error", "warning"),
  /** What has it: the name of a content, a source, a screen, an address. Missing where the code says enough. */
  subject: Schema.optionalWith(Schema.String, { exact: true }),
  /** The id of the player that has reported it; missing where it is of this machine. */
  player: Schema.optionalWith(Schema.String, { exact: true }),
  /** One sentence, with what to do about it where that is known. Times in it are ISO 8601, UTC. */
  text: Schema.String,
  /** ISO 8601, UTC; missing where that is not known. */
  since: Schema.optionalWith(Schema.String, { exact: true }),
  /** How often it has begun in this run of the controller; only in the state, which counts. */
  count: Schema.optionalWith(Schema.Number, { exact: true }),
  /** Missing where it is not muted; only in the state, which knows. */
  muted: Schema.optionalWith(Mute, { exact: true })
})
export type Problem = typeof Problem.Type
