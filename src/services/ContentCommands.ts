/**
 * The built-in commands of Vitrine: their fields, beside `type`, and their results; and the actions that screens are asked for.
 */

import * as Schema from "effect/Schema"
import { optional } from "../internal/schemas.ts"
import type { ContentCheck } from "./ContentCheck.ts"
import type { ContentDiff } from "./ContentDiff.ts"
import type { FetchOutcome } from "./ContentEvents.ts"
import type { ContentSample } from "./ContentSample.ts"
import type {
  AckDetails,
  HoldOutcome,
  ManifestReading,
  Verification,
  VersionsReport
} from "./VersionStore.ts"

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

/** A screen has got the actions that it was asked for. */
export const TakenByScreen = Schema.Struct({
  screen: Schema.String,
  actions: Schema.Array(ScreenAction)
})

/** The answer to an ack, if there are actions. */
export interface AckAnswer {
  readonly actions: ReadonlyArray<ScreenAction>
  /** The label of the screen in the configuration; missing if it has none. */
  readonly label?: string
}

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

interface BuiltInCommand<Fields, Result> {
  readonly fields: Fields
  readonly result: Result
}

/** Who asks, for people. */
interface Asking {
  readonly by?: string
}

interface OfVersion {
  readonly versionId?: string
}

type None = Readonly<Record<never, never>>

/** The commands of a content, by their names without the name of the plugin. */
export interface ContentCommands {
  readonly fetch: BuiltInCommand<None, FetchOutcome>
  readonly check: BuiltInCommand<{ readonly source?: string }, ContentCheck | ContentSample>
  readonly "manifest.read": BuiltInCommand<None, ManifestReading>
  readonly ack: BuiltInCommand<
    { readonly consumerId: string; readonly versionId: string } & AckDetails,
    AckAnswer | undefined
  >
  readonly keep: BuiltInCommand<{ readonly versionId: string; readonly still?: boolean }, void>
  readonly verify: BuiltInCommand<OfVersion, Verification>
  readonly versions: BuiltInCommand<None, VersionsReport>
  readonly diff: BuiltInCommand<{ readonly from?: string; readonly to?: string }, ContentDiff>
  readonly rollback: BuiltInCommand<Asking & OfVersion, HoldOutcome>
  readonly hold: BuiltInCommand<Asking & { readonly until?: string }, HoldOutcome>
  readonly release: BuiltInCommand<Asking & OfVersion, HoldOutcome>
  readonly resume: BuiltInCommand<Asking, HoldOutcome>
  readonly screen: BuiltInCommand<Asking & { readonly screen: string; readonly action: ScreenAction }, void>
}

/**
 * The commands of a content named `content`, by their `type`. A command without a result returns `null` over HTTP.
 *
 * @since 0.1.0
 * @category models
 */
export type BuiltInCommands = {
  readonly [Name in keyof ContentCommands as `content.${Name}`]: ContentCommands[Name]
}
