/**
 * What the page shows of the controller, as data.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Number from "effect/Number"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CommandBus } from "../../services/CommandBus.ts"
import { ControllerState, type Node, type Section } from "../../services/ControllerState.ts"
import type { ContentState, Slice, TransportState } from "../../services/Slices.ts"
import { VersionsReport } from "../../services/VersionStore.ts"
import { type Health, healthOf, problemsOf } from "../status/Health.ts"
import { type ScreenStatus, screensOf } from "../status/screens.ts"
import { contentsOf, type Named, slicesOf } from "../status/slices.ts"
import type { Actions } from "./access.ts"

export interface Overview extends Health {
  /** The controller's time, in milliseconds since 1970: that of the reader may be another. */
  readonly now: number
  /** ISO 8601, UTC. */
  readonly startTime: string
  readonly node?: Node
  readonly actions: Actions
  readonly contents: ReadonlyArray<
    ContentState & {
      readonly name: string
      /** The oldest first, with what they are made of where the content has a command that says so. */
      readonly versions?: VersionsReport["versions"]
    }
  >
  /** The worst first. */
  readonly screens: ReadonlyArray<ScreenStatus>
  /** All HTTP transports together; missing where there is none. */
  readonly transport?: Pick<TransportState, "clients" | "maxClients" | "streams">
  readonly sections: ReadonlyArray<Section>
}

const transportOf = (slices: ReadonlyArray<Named<Slice>>): Pick<Overview, "transport"> => {
  const transports = slices.flatMap(([, slice]) => (slice.kind === "http-transport" ? [slice] : []))
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

const decodeVersions = Schema.decodeUnknownOption(VersionsReport)

/** How long a store of versions may take to be read. */
const patience = "5 seconds"

/** Whether all is well, by the controller's own state. */
export const makeHealth = Effect.map(ControllerState, ({ state }) =>
  Effect.map(Effect.all({ now: Clock.currentTimeMillis, state }), ({ now, state }) => ({
    ...healthOf(problemsOf(state, now)),
    now,
    state
  }))
)

export const makeOverview = Effect.fnUntraced(function* (actions: Actions) {
  const commands = yield* CommandBus
  const { status } = yield* ControllerState
  const readHealth = yield* makeHealth

  const versionsOf = (name: string) =>
    commands.dispatch({ type: `${name}.versions` }, { timeout: patience }).pipe(
      Effect.map(decodeVersions),
      Effect.orElseSucceed(() => Option.none<VersionsReport>())
    )

  return Effect.gen(function* () {
    const { state, ...health } = yield* readHealth
    const { node, startTime } = state.system
    const slices = slicesOf(state)
    const contents = yield* Effect.forEach(contentsOf(slices), ([name, content]) =>
      Effect.map(versionsOf(name), (report) => ({
        ...content,
        name,
        ...Option.match(report, { onNone: () => ({}), onSome: ({ versions }) => ({ versions }) })
      }))
    )
    return {
      ...health,
      startTime,
      ...(node === undefined ? {} : { node }),
      actions,
      contents,
      screens: screensOf(state, health.now, slices),
      ...transportOf(slices),
      sections: (yield* status).sections
    } satisfies Overview
  })
})
