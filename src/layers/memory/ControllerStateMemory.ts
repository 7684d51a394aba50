/**
 * The state and the status of the controller in this process.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import {
  ControllerState,
  type GlobalState,
  type Mode,
  type Section,
  type SectionSource
} from "../../services/ControllerState.ts"

const defaultOrder = 50

/** A state without plugins, of a controller that starts now, in this mode. */
export const make = (mode: Mode) =>
  Effect.gen(function* () {
    const startTime = new Date(yield* Clock.currentTimeMillis).toISOString()
    const startedAt = yield* monotonicMillis
    const state = yield* Ref.make<GlobalState>({ system: { startTime, mode }, plugins: {}, _version: 0 })
    const sources = new Set<SectionSource>()
    let sections: Effect.Effect<ReadonlyArray<ReadonlyArray<Section>>> = Effect.succeed([])
    let data: Effect.Effect<ReadonlyArray<ReadonlyArray<Data>>> = Effect.succeed([])
    const changeSources = (change: () => void) =>
      Effect.sync(() => {
        change()
        const inOrder = [...sources].sort((a, b) => (a.order ?? defaultOrder) - (b.order ?? defaultOrder))
        sections = Effect.all(inOrder.map(build))
        data = Effect.all(inOrder.map(readData))
      })

    return ControllerState.of({
      mode,
      state: Effect.flatMap(
        Effect.suspend(() => data),
        (data) => Effect.map(Ref.get(state), (state) => data.flat().reduce(withData, state))
      ),
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

/** The state of a controller that runs in the given mode. */
export const layer = (mode: Mode): Layer.Layer<ControllerState> => Layer.effect(ControllerState, make(mode))

/** A section's name, and its data. */
type Data = readonly [name: string, fields: Readonly<Record<string, unknown>>]

const withData = (state: GlobalState, [name, fields]: Data): GlobalState => {
  const slice = Option.filter(Record.get(state.plugins, name), Predicate.isRecord)
  return {
    ...state,
    plugins: { ...state.plugins, [name]: { ...Option.getOrElse(slice, () => ({})), ...fields } }
  }
}

const build = ({ data, rows, ...head }: SectionSource): Effect.Effect<ReadonlyArray<Section>> =>
  Effect.map(
    orNothing(`The status section "${head.name}" could not be built`, rows),
    Option.match({ onNone: () => [], onSome: (rows) => [{ ...head, rows }] })
  )

const readData = ({ data, name }: SectionSource): Effect.Effect<ReadonlyArray<Data>> =>
  data === undefined
    ? Effect.succeed([])
    : Effect.map(
        orNothing(`The data of the status section "${name}" could not be read`, data),
        Option.match({ onNone: () => [], onSome: (fields) => [[name, fields]] })
      )

/** A failure is logged once, until it works again. */
const orNothing = <A, E>(message: string, effect: Effect.Effect<A, E>): Effect.Effect<Option.Option<A>> => {
  let isFailing = false
  return Effect.matchCauseEffect(effect, {
    onSuccess: (value) => {
      isFailing = false
      return Effect.succeedSome(value)
    },
    onFailure: (cause) => {
      const wasFailing = isFailing
      isFailing = true
      return wasFailing ? Effect.succeedNone : Effect.as(Effect.logWarning(message, cause), Option.none())
    }
  })
}
