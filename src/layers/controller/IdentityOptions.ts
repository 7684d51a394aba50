/**
 * What a configuration says of the machine and of the screens that belong to it.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fileKey, isPlainFileName } from "../../internal/FileName.ts"
import { nodeId } from "../../internal/nodeId.ts"
import { expects } from "../../internal/Options.ts"
import { printableLine } from "../../internal/printable.ts"
import type { Identity } from "../../services/StatusSnapshot.ts"

const maxLength = 64
const maxScreens = 256

const line = expects(
  Schema.String.pipe(Schema.filter((text) => text !== "" && printableLine(text, maxLength) === text)),
  `one line of at most ${maxLength} characters, without spaces around it`
)
const optionalLine = Schema.optionalWith(line, { exact: true })

/** The machine that the controller runs on. */
export const NodeOptions = Schema.Struct({
  /** Of several machines, each has its own. Default: the short name of the host, in lower case. */
  id: optionalLine,
  /** What people call it. */
  label: optionalLine,
  /** What it is there for, `hub` for example. */
  role: optionalLine
})

/** A screen that should show content all the time. */
const ScreenOptions = expects(
  Schema.Struct({
    /** What its page or program gives as its `consumerId`. */
    id: expects(
      Schema.String.pipe(Schema.filter(isPlainFileName)),
      'a consumerId, which is one plain file name, such as "screen-1"'
    ),
    /** What people call it. */
    label: optionalLine
  }),
  'a screen, such as { id: "left" }'
)

/** As many as there can be leases. */
export const ScreensOptions = expects(Schema.Array(ScreenOptions), "an array of screens").pipe(
  Schema.maxItems(maxScreens, {
    message: () => `expected at most ${maxScreens} screens`
  }),
  Schema.filter((screens) =>
    screens.flatMap(({ id }, index) =>
      screens.findIndex((other) => fileKey(other.id) === fileKey(id)) < index
        ? [
            {
              path: [index, "id"],
              message: `another screen has the id ${JSON.stringify(id)} too, or one that is the same file`
            }
          ]
        : []
    )
  )
)

/** What is said of them, with the defaults. */
export const identityOf = (
  node: typeof NodeOptions.Type = {},
  screens: typeof ScreensOptions.Type = []
): Effect.Effect<Identity> =>
  Effect.map(nodeId, (id) => ({
    node: { id, ...node },
    ...(screens.length === 0 ? {} : { screens })
  }))
