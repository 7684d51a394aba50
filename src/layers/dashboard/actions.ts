/**
 * What the page can have done.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { printableLine } from "../../internal/printable.ts"
import { CommandBus, type DispatchError } from "../../services/CommandBus.ts"
import { ScreenAction } from "../../services/ScreenActions.ts"
import { BadRequest, CommandNotAllowed } from "../http/errors.ts"

const text = Schema.optionalWith(Schema.String, { exact: true })

/** Fields beyond these are ignored. */
const Action = Schema.Struct({
  type: Schema.String,
  versionId: text,
  screen: text,
  action: Schema.optionalWith(ScreenAction, { exact: true }),
  /** What is muted, until when and why. */
  name: text,
  until: text,
  why: text,
  /** What people call who acts. */
  by: text
})

const decode = Schema.decodeUnknown(Schema.parseJson(Action))

const isAllowed = ({ type }: typeof Action.Type): boolean =>
  /^([a-z][a-z0-9-]*\.(hold|release|resume|rollback|screen)|problem\.(mute|unmute))$/.test(type)

/** Dispatches the command that the body of a request names, says from where, and gives its result. */
export type Act = (
  body: Uint8Array,
  from: string | undefined
) => Effect.Effect<unknown, BadRequest | CommandNotAllowed | DispatchError>

export const make: Effect.Effect<Act, never, CommandBus> = Effect.map(
  CommandBus,
  ({ dispatch }): Act =>
    (body, from) =>
      decode(Buffer.from(body).toString("utf8")).pipe(
        Effect.mapError(() => new BadRequest({ message })),
        Effect.filterOrFail(isAllowed, notAllowed),
        Effect.flatMap(({ by = "", ...action }) =>
          dispatch({
            ...action,
            by: `${printableLine(by, maxName) || "somebody"} at ${from === undefined ? "the dashboard" : `${from} (dashboard)`}`
          })
        )
      )
)

/** In characters: of the 64 that are kept, the address has up to 39. */
const maxName = 24

const notAllowed = ({ type }: typeof Action.Type) =>
  new CommandNotAllowed({
    message: `Action not allowed: ${JSON.stringify(type)}. There are "content.hold", "content.release", "content.resume", "content.rollback" and "content.screen", and the same of other contents, "problem.mute" and "problem.unmute".`
  })

const message =
  'The body must be a JSON object with a string "type" and, for a rollback or a release, a string "versionId", for a screen, a string "screen" and an "action", "reload" or "identify", to mute a problem, a "name" and "until"; a string "by" says who acts.'
