/**
 * What the page shows of the controller, as data.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Number from "effect/Number"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CommandBus } from "../../services/CommandBus.ts"
import type { ContentState } from "../../services/ContentEvents.ts"
import { ControllerState, type GlobalState, type Section } from "../../services/ControllerState.ts"
import { contentsOf, type Health, type HealthRules, healthOf } from "../../services/Health.ts"
import { VersionsReport } from "../../services/VersionStore.ts"
import type { Actions } from "./access.ts"

export interface Overview extends Health {
  /** The controller's time, in milliseconds since 1970: that of the reader may be another. */
  readonly now: number
  /** ISO 8601, UTC. */
  readonly startTime: string
  readonly actions: Actions
  readonly contents: ReadonlyArray<
    ContentState & {
      readonly name: string
      /** The oldest first; missing where the content has no such command. */
      readonly versions?: VersionsReport["versions"]
    }
  >
  /** All HTTP transports together; missing where there is none. */
  readonly transport?: Transport
  readonly sections: ReadonlyArray<Section>
}

const Transport = Schema.Struct({
  clients: Schema.Number,
  maxClients: Schema.Number,
  streams: Schema.Array(
    Schema.Struct({
      origin: Schema.String,
      userAgent: Schema.String,
      streams: Schema.Number,
      since: Schema.String
    })
  )
})
type Transport = typeof Transport.Type

const decodeTransport = Schema.decodeUnknownOption(Transport)
const decodeVersions = Schema.decodeUnknownOption(VersionsReport)

const transportOf = ({ plugins }: GlobalState): Pick<Overview, "transport"> => {
  const transports = Object.values(plugins).flatMap((slice) => Option.toArray(decodeTransport(slice)))
  return transports.length === 0
    ? {}
    : {
        transport: {
          clients: Number.sumAll(transports.map(({ clients }) => clients)),
          maxClients: Number.sumAll(transports.map(({ maxClients }) => maxClients)),
          streams: transports.flatMap(({ streams }) => streams)
        }
      }
}

/** How long a store of versions may take to be read. */
const patience = "5 seconds"

/** Whether all is well, by the controller's own state and status. */
export const makeHealth = (rules: HealthRules) =>
  Effect.map(ControllerState, ({ state, status }) =>
    Effect.map(Effect.all({ now: Clock.currentTimeMillis, state, status }), ({ now, state, status }) => ({
      ...healthOf({ now, rules, state, status }),
      now,
      state,
      status
    }))
  )

export const makeOverview = Effect.fnUntraced(function* (rules: HealthRules, actions: Actions) {
  const commands = yield* CommandBus
  const health = yield* makeHealth(rules)

  const versionsOf = (name: string) =>
    commands.dispatch({ type: `${name}.versions` }, { timeout: patience }).pipe(
      Effect.map(decodeVersions),
      Effect.orElseSucceed(() => Option.none<VersionsReport>())
    )

  return Effect.gen(function* () {
    const { state, status, ...wellBeing } = yield* health
    const contents = yield* Effect.forEach(contentsOf(state), ({ name, state }) =>
      Effect.map(versionsOf(name), (report) => ({
        ...state,
        name,
        ...Option.match(report, { onNone: () => ({}), onSome: ({ versions }) => ({ versions }) })
      }))
    )
    const overview: Overview = {
      ...wellBeing,
      startTime: status.header.startTime,
      actions,
      contents,
      ...transportOf(state),
      sections: status.sections
    }
    return overview
  })
})
