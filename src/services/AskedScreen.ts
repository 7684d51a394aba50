/**
 * The actions that screens are asked for: `content.screen` asks, and the answer to the next ack of the screen has the actions.
 */
import * as Schema from "effect/Schema"
import { optional } from "../internal/schemas.ts"

export const ScreenAction = Schema.Literal("reload", "identify")
export type ScreenAction = typeof ScreenAction.Type

/** Somebody asks a screen for an action. */
export const AskedScreen = Schema.Struct({
  /** The id of a screen of this machine, or `PLAYER/SCREEN` at the hub of the player. */
  screen: Schema.String,
  action: ScreenAction,
  /** Who asks, as they call themselves. */
  by: optional(Schema.String)
})
export type AskedScreen = typeof AskedScreen.Type

/** How long an action waits for its screen, in milliseconds. */
export const askedForMs = 2 * 60_000

/** A screen has confirmed the actions that it was asked for, or has been given them for the last time without confirming any. */
export const TakenByScreen = Schema.Struct({
  screen: Schema.String,
  actions: Schema.Array(ScreenAction)
})

/** The answer to an ack, if there are actions. */
export const AckAnswer = Schema.Struct({
  actions: Schema.Array(ScreenAction),
  /** Of each action, for the `done` of the next ack. */
  ids: Schema.Array(Schema.String),
  /** The label of the screen in the configuration; missing if it has none. */
  label: optional(Schema.String)
})
export type AckAnswer = typeof AckAnswer.Type

/** How many of the known screens an error names. */
const maxNamed = 20

/** No such screen has reported its version, or is expected. */
export class UnknownScreen extends Schema.TaggedError<UnknownScreen>()("vitrine/UnknownScreen", {
  screen: Schema.String,
  /** The screens that can be asked, on players as `PLAYER/SCREEN`. */
  known: Schema.Array(Schema.String)
}) {
  override get message() {
    const more = this.known.length - maxNamed
    const known = this.known.length === 0 ? "none" : this.known.slice(0, maxNamed).join(", ")
    return `There is no screen ${JSON.stringify(this.screen)}. Known screens: ${known}${more > 0 ? `, and ${more} more` : ""}.`
  }
}
