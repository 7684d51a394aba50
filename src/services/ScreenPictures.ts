/**
 * Pictures of screens: somebody asks for a picture, and the watcher of the screen's browser takes it (docs/wire.md, "Pictures of
 * screens"). The watcher of a player's screen, `PLAYER/SCREEN`, is its player.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { optional } from "../internal/schemas.ts"

/**
 * A picture of a screen.
 *
 * @since 0.1.0
 * @category models
 */
export interface ScreenPicture {
  /** When it arrived: ISO 8601, UTC. */
  readonly takenAt: string
  readonly jpeg: Uint8Array
}

/**
 * There is no picture: pictures are off or forbidden, no watcher asks for this screen, no answer came in time, or the watcher says why
 * there is none.
 *
 * @since 0.1.0
 * @category errors
 */
export class NoPicture extends Schema.TaggedError<NoPicture>()("vitrine/NoPicture", {
  screen: Schema.String,
  reason: Schema.Literal("off", "forbidden", "unseen", "late", "refused"),
  /** The words of the watcher, if it has refused. */
  detail: optional(Schema.String)
}) {
  override get message() {
    return sentences[this.reason](this)
  }
}

const sentences: {
  readonly [Reason in NoPicture["reason"]]: (error: NoPicture) => string
} = {
  off: () =>
    'Pictures of screens are off: set "pictures" of the content server, as in contentServer({ pictures: { token: process.env.PICTURES_TOKEN } }).',
  forbidden: ({ screen }) =>
    `Pictures of screen ${screen} are forbidden: the configuration says "picture: false".`,
  unseen: ({ screen }) =>
    `Screen ${screen} cannot be seen: ${screen.includes("/") ? 'turn on "pictures" of its player, and ' : ""}start its browser with deploy/kiosk/watch.mjs.`,
  late: ({ screen }) => `No picture of screen ${screen} has come within 90 seconds.`,
  refused: ({ detail, screen }) => `There is no picture of screen ${screen}: ${detail}`
}

/**
 * The number of an answer is not wanted: it was used, is older than 90 seconds, or belongs to another screen.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotWanted extends Schema.TaggedError<NotWanted>()("vitrine/NotWanted", {}) {
  override get message() {
    return "This picture is not wanted: its number was used, has expired, or belongs to another screen."
  }
}

/**
 * A picture that is wanted, for the watchers of its screen.
 *
 * @since 0.1.0
 * @category models
 */
export interface WantedPicture {
  readonly screen: string
  /** 128 random bits in hexadecimal digits. Good for one answer. */
  readonly number: string
}

/**
 * Pictures of the screens of one controller, from `ControllerServices.layer`; without it, pictures are off.
 *
 * @since 0.1.0
 * @category tags
 */
export class ScreenPictures extends Context.Reference<ScreenPictures>()("vitrine/ScreenPictures", {
  defaultValue: (): ScreenPicturesService => off
}) {}

/**
 * The operations on pictures, for people who ask and for watchers.
 *
 * @since 0.1.0
 * @category models
 */
export interface ScreenPicturesService {
  /** Turns pictures on, except of the forbidden screens. Gives the effect that ends this, and the waiting of watchers. */
  readonly open: (forbidden: ReadonlyArray<string>) => Effect.Effect<Effect.Effect<void>>

  /** Asks for a picture and waits for it, 90 seconds at most. Within five seconds, all callers get the same picture. */
  readonly ask: (screen: string) => Effect.Effect<ScreenPicture, NoPicture>

  /** The last picture of a screen, an hour at most. */
  readonly last: (screen: string) => Effect.Effect<Option.Option<ScreenPicture>>

  /** The screens whose last picture is kept, and its time, as in `ScreenPicture`. */
  readonly times: Effect.Effect<ReadonlyArray<{ readonly screen: string; readonly takenAt: string }>>

  /** The screens whose watchers have asked in the last minute. */
  readonly watched: Effect.Effect<ReadonlyArray<string>>

  /** For a watcher: waits until a picture of the screen is wanted, 50 seconds at most. Counts as the asking of a watcher. */
  readonly wanted: (screen: string) => Effect.Effect<Option.Option<WantedPicture>>

  /** As `wanted` for all of these screens, without waiting. */
  readonly wantedNow: (screens: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<WantedPicture>>

  /** The answer of a watcher: a picture in JPEG, or the reason in words. The first answer counts. */
  readonly answer: (
    wanted: WantedPicture,
    answer: Either.Either<Uint8Array, string>
  ) => Effect.Effect<void, NotWanted>
}

const off: ScreenPicturesService = {
  open: () => Effect.succeed(Effect.void),
  ask: (screen) => new NoPicture({ screen, reason: "off" }),
  last: () => Effect.succeedNone,
  times: Effect.succeed([]),
  watched: Effect.succeed([]),
  wanted: () => Effect.succeedNone,
  wantedNow: () => Effect.succeed([]),
  answer: () => new NotWanted()
}
