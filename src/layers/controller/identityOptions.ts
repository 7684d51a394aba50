/**
 * The options of the machine, and of its expected screens and players.
 */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Schema from "effect/Schema"
import { fileKey, isPlainFileName } from "../../files/fileName.ts"
import { nodeId } from "../../internal/machine.ts"
import { expects, omittable } from "../../internal/Options.ts"
import { printableLine } from "../../internal/printable.ts"
import type { Identity, OpeningHours } from "../../services/StatusSnapshot.ts"
import { maxConsumers } from "../../services/VersionStore.ts"
import { HoursOptions } from "../status/openingHours.ts"

const maxLength = 64
const maxPlayers = 1024

const lineText = `one line of at most ${maxLength} characters, without spaces around it`
const aLine = Schema.String.pipe(
  Schema.filter((text) => text !== "" && printableLine(text, maxLength) === text)
)
const optionalLine = omittable(expects(aLine, lineText))

/** Without `/`, because the address of a player's screen is `PLAYER/SCREEN`. */
const aNodeId = aLine.pipe(Schema.filter((id) => !id.includes("/")))
const nodeIdText = `${lineText} and without "/"`

/** The machine of the controller. */
export interface NodeConfig {
  /** Unique among the machines, without `/`. Default: the short name of the host, in lower case. */
  readonly id?: string | undefined

  /** Its name for people. */
  readonly label?: string | undefined

  /** Its purpose, `hub` for example. */
  readonly role?: string | undefined
}

export const NodeOptions = Schema.Struct({
  id: omittable(expects(aNodeId, nodeIdText)),
  label: optionalLine,
  role: optionalLine
})

/** Opening hours, as a user writes them. */
export type OpeningHoursConfig = { readonly [Key in keyof OpeningHours]: OpeningHours[Key] | undefined }

/** An expected screen or player. */
export interface ExpectedConfig {
  readonly id: string

  /** Its name for people. */
  readonly label?: string | undefined

  /** When it should be on, if this differs from the `hours` of the configuration. */
  readonly hours?: OpeningHoursConfig | undefined
}

/** An expected screen. */
export interface ScreenConfig extends ExpectedConfig {
  /** `false` forbids pictures of the screen, for example of a camera's view or the names of visitors. Default `true`. */
  readonly picture?: boolean | undefined
}

/** When the place is open. */
export const OptionalHours = omittable(expects(HoursOptions, 'an object, such as { mon: "10:00-18:00" }'))

const described = { label: optionalLine, hours: OptionalHours }

interface Listed<A, I> {
  readonly what: "screen" | "player"
  readonly item: Schema.Schema<A, I>
  readonly example: string
  readonly max: number
  readonly keyOf?: (id: string) => string
  /** The reason why two unequal ids count as the same. */
  readonly orSame?: string
}

/** Expected screens or players: at most `max`, and no two ids with the same key. */
const listOf = <A extends { readonly id: string }, I>({
  example,
  item,
  keyOf = identity,
  max,
  orSame = "",
  what
}: Listed<A, I>) =>
  expects(
    Schema.Array(expects(item, `a ${what}, such as { id: "${example}" }`)),
    `an array of ${what}s`
  ).pipe(
    Schema.maxItems(max, { message: () => `expected at most ${max} ${what}s` }),
    Schema.filter((listed) => {
      const first = new Map(listed.map(({ id }, index) => [keyOf(id), index] as const).toReversed())
      return listed.flatMap(({ id }, index) =>
        first.get(keyOf(id)) === index
          ? []
          : { path: [index, "id"], message: `another ${what} has the id ${JSON.stringify(id)} too${orSame}` }
      )
    })
  )

/** The screens that should always show content. The maximum is the maximum of leases. */
export const ScreensOptions = listOf({
  what: "screen",
  item: Schema.Struct({
    id: expects(
      Schema.String.pipe(Schema.filter(isPlainFileName)),
      'a consumerId, which is one plain file name, such as "screen-1"'
    ),
    ...described,
    picture: omittable(expects(Schema.Boolean, "true or false"))
  }),
  example: "left",
  max: maxConsumers,
  keyOf: fileKey,
  orSame: ", or an id that means the same file"
})

/** The players that should report to this machine. The maximum is the maximum of players. */
export const PlayersOptions = listOf({
  what: "player",
  item: Schema.Struct({
    id: expects(aNodeId, `the id of the player's node: ${nodeIdText}`),
    ...described
  }),
  example: "hall-3",
  max: maxPlayers
})

/** The machine, screens and players, with defaults. */
export const identityOf = (
  node: typeof NodeOptions.Type = {},
  screens: typeof ScreensOptions.Type = [],
  players: typeof PlayersOptions.Type = [],
  hours?: OpeningHours
): Effect.Effect<Identity> =>
  Effect.map(Effect.sync(nodeId), (id) => ({
    node: { id, ...node },
    hours,
    screens: screens.length === 0 ? undefined : screens,
    players: players.length === 0 ? undefined : players
  }))
