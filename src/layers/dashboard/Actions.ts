/**
 * The actions of the page: checks them and dispatches their commands.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { printableLine } from "../../internal/printable.ts"
import { optional } from "../../internal/schemas.ts"
import { ScreenAction } from "../../services/AskedScreen.ts"
import { CommandBus, type DispatchError } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { View } from "../../services/View.ts"
import { BadRequest, CommandNotAllowed } from "../http/errors.ts"

const text = optional(Schema.String)

/** Other fields are ignored. */
const Action = Schema.Struct({
  type: Schema.String,
  versionId: text,
  screen: text,
  action: optional(ScreenAction),
  /** For a mute: the name of the problem, the end and the reason. */
  name: text,
  until: text,
  /** The warning that is accepted. */
  code: text,
  subject: text,
  why: text,
  /** The name of the person who acts. */
  by: text
})

const decode = Schema.decodeUnknown(Schema.parseJson(Action))

const ofContents = ["accept", "hold", "release", "resume", "rollback", "screen"]
const ofProblems = ["problem.mute", "problem.unmute"]

/** The allowed commands: for problems, and for each content. */
const allowed = ({ contents }: View): ReadonlyArray<string> => [
  ...ofProblems,
  ...contents.flatMap(({ name }) => ofContents.map((action) => `${name}.${action}`))
]

/** Dispatches the command in the body of a request, adds the address of the client, and returns the result. */
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

/** In characters. The controller keeps 64, and the address needs up to 39. */
const maxName = 24

const notAllowed = (type: string, allowed: ReadonlyArray<string>) =>
  new CommandNotAllowed({
    message: `Action not allowed: ${JSON.stringify(type)}. There are: ${allowed.join(", ")}.`
  })

const message =
  'The body must be a JSON object with a string "type" and, for a rollback or a release, a string "versionId", for a screen, a string "screen" and an "action", "reload" or "identify", to mute a problem, a "name" and "until", to accept a warning, its "code" and "subject"; a string "by" says who acts.'
