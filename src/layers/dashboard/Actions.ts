/**
 * What the page can have done.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { printableLine } from "../../internal/printable.ts"
import { optional } from "../../internal/schemas.ts"
import { CommandBus, type DispatchError } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { ScreenAction } from "../../services/ScreenActions.ts"
import type { View } from "../../services/View.ts"
import { BadRequest, CommandNotAllowed } from "../http/errors.ts"

const text = optional(Schema.String)

/** Fields beyond these are ignored. */
const Action = Schema.Struct({
  type: Schema.String,
  versionId: text,
  screen: text,
  action: optional(ScreenAction),
  /** What is muted, until when and why. */
  name: text,
  until: text,
  why: text,
  /** What people call who acts. */
  by: text
})

const decode = Schema.decodeUnknown(Schema.parseJson(Action))

const ofContents = ["hold", "release", "resume", "rollback", "screen"]
const ofProblems = ["problem.mute", "problem.unmute"]

/** Those of problems, and those of the contents that there are. */
const allowed = ({ contents }: View): ReadonlyArray<string> => [
  ...ofProblems,
  ...contents.flatMap(({ name }) => ofContents.map((action) => `${name}.${action}`))
]

/** Dispatches the command that the body of a request names, says from where, and gives its result. */
export type Act = (
  body: Uint8Array,
  from: string | undefined
) => Effect.Effect<unknown, BadRequest | CommandNotAllowed | DispatchError>

export const make: Effect.Effect<Act, never, CommandBus | ControllerState> = Effect.zipWith(
  CommandBus,
  ControllerState,
  ({ dispatch }, { read }): Act =>
    (body, from) =>
      decode(Buffer.from(body).toString("utf8")).pipe(
        Effect.mapError(() => new BadRequest({ message })),
        Effect.tap(({ type }) =>
          Effect.flatMap(read, ({ view }) =>
            allowed(view).includes(type) ? Effect.void : notAllowed(type, allowed(view))
          )
        ),
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

const notAllowed = (type: string, allowed: ReadonlyArray<string>) =>
  new CommandNotAllowed({
    message: `Action not allowed: ${JSON.stringify(type)}. There are: ${allowed.join(", ")}.`
  })

const message =
  'The body must be a JSON object with a string "type" and, for a rollback or a release, a string "versionId", for a screen, a string "screen" and an "action", "reload" or "identify", to mute a problem, a "name" and "until"; a string "by" says who acts.'
