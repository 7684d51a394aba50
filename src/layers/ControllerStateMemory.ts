/**
 * The state and the status of the controller in this process.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import {
  ControllerState,
  type GlobalState,
  type Mode,
  type Section,
  type SectionSource
} from "../services/ControllerState.ts"

const defaultOrder = 50

export const make = (mode: Mode) =>
  Effect.gen(function* () {
    const startTime = new Date(yield* Clock.currentTimeMillis).toISOString()
    const startedAt = yield* monotonicMillis
    const state = yield* Ref.make<GlobalState>({ system: { startTime, mode }, plugins: {}, _version: 0 })
    const sources = new Set<SectionSource>()
    let sections: Effect.Effect<ReadonlyArray<ReadonlyArray<Section>>> = Effect.succeed([])
    const changeSources = (change: () => void) =>
      Effect.sync(() => {
        change()
        const inOrder = [...sources].sort((a, b) => (a.order ?? defaultOrder) - (b.order ?? defaultOrder))
        sections = Effect.all(inOrder.map(build))
      })

    return ControllerState.of({
      mode,
      state: Ref.get(state),
      updateSlice: (plugin, f) =>
        Ref.update(state, ({ _version, plugins, system }) => ({
          system,
          plugins: { ...plugins, [plugin]: f(Option.getOrUndefined(Record.get(plugins, plugin))) },
          _version: _version + 1
        })),
      addSection: (source) =>
        Effect.acquireRelease(
          changeSources(() => sources.add(source)),
          () => changeSources(() => sources.delete(source))
        ),
      status: Effect.flatMap(monotonicMillis, (now) =>
        Effect.map(sections, (sections) => ({
          header: { startTime, uptimeMs: now - startedAt, mode },
          sections: sections.flat()
        }))
      )
    })
  })

/** Goes on when somebody sets the clock. */
const monotonicMillis = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000_000n))

/** The state of a controller that runs in the given mode. */
export const layer = (mode: Mode): Layer.Layer<ControllerState> => Layer.effect(ControllerState, make(mode))

/** A section that fails is logged once, until it works again. */
const build = ({ rows, ...head }: SectionSource): Effect.Effect<ReadonlyArray<Section>> => {
  let isFailing = false
  return Effect.matchCauseEffect(rows, {
    onSuccess: (rows) => {
      isFailing = false
      return Effect.succeed([{ ...head, rows }])
    },
    onFailure: (cause) => {
      const wasFailing = isFailing
      isFailing = true
      return wasFailing
        ? Effect.succeed([])
        : Effect.as(Effect.logWarning(`The status section "${head.name}" could not be built`, cause), [])
    }
  })
}
