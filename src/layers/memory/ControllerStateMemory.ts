/**
 * The state and the status of the controller in this process.
 */
import * as Array from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { nodeId } from "../../internal/nodeId.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import {
  ControllerState,
  type GlobalState,
  type Identity,
  type Mode,
  type Section
} from "../../services/ControllerState.ts"
import { readState } from "../status/readState.ts"
import { type Remembered, remember } from "../status/remembered.ts"

/** A state without plugins, of a controller that starts now, in this mode. The id of its node is by default that of the host. */
export const make = (mode: Mode, given?: Identity) =>
  Effect.gen(function* () {
    const identity = given ?? { node: { id: yield* nodeId } }
    const startTime = new Date(yield* Clock.currentTimeMillis).toISOString()
    const startedAt = yield* monotonicMillis
    const resting = yield* Ref.make<GlobalState>({
      system: { startTime, mode, ...identity },
      plugins: {},
      _version: 0
    })
    const momentary = yield* Ref.make<ReadonlyArray<Part<Momentary>>>([])
    const added = yield* Ref.make<ReadonlyArray<Part<Section>>>([])

    const remembered = yield* Ref.make<Remembered>(new Map())

    const read = Effect.gen(function* () {
      const fields = yield* readAll(momentary)
      const sections = yield* readAll(added)
      const state = fields.reduce(merge, yield* Ref.get(resting))
      const now = yield* Clock.currentTimeMillis
      const reading = readState(state, sections, now)
      const problems = yield* Ref.modify(remembered, (before) => {
        const { remembered, standing } = remember(before, reading.problems, new Date(now).toISOString())
        return [standing, remembered]
      })
      return { sections: reading.sections, state: { ...state, problems } }
    })

    return ControllerState.of({
      mode,
      state: Effect.map(read, ({ state }) => state),
      updateSlice: (plugin, f) =>
        Ref.update(resting, ({ _version, plugins, system }) => ({
          system,
          plugins: { ...plugins, [plugin]: f(Option.getOrUndefined(Record.get(plugins, plugin))) },
          _version: _version + 1
        })),
      addMomentary: (plugin, fields) =>
        addTo(
          momentary,
          orNothing(
            `What the state says of "${plugin}" could not be read`,
            Effect.map(fields, (fields) => [plugin, fields] as const)
          )
        ),
      addSection: ({ rows, ...head }) =>
        addTo(
          added,
          orNothing(
            `The status section "${head.name}" could not be built`,
            Effect.map(rows, (rows) => ({ ...head, rows }))
          )
        ),
      status: Effect.gen(function* () {
        const { sections } = yield* read
        const uptimeMs = (yield* monotonicMillis) - startedAt
        return { header: { startTime, uptimeMs, mode, node: identity.node }, sections }
      })
    })
  })

/** The state of a controller that runs in the given mode. The id of its node is by default the short name of the host. */
export const layer = (mode: Mode, identity?: Identity): Layer.Layer<ControllerState> =>
  Layer.effect(ControllerState, make(mode, identity))

/** Something that is read on demand; `None` if that fails. */
type Part<A> = Effect.Effect<Option.Option<A>>

/** A plugin's name, and fields of its slice. */
type Momentary = readonly [plugin: string, fields: object]

const readAll = <A>(parts: Ref.Ref<ReadonlyArray<Part<A>>>) =>
  Effect.map(Effect.flatMap(Ref.get(parts), Effect.all), Array.getSomes)

/** Until the scope ends. */
const addTo = <A>(parts: Ref.Ref<ReadonlyArray<Part<A>>>, part: Part<A>) =>
  Effect.acquireRelease(Ref.update(parts, Array.append(part)), () =>
    Ref.update(
      parts,
      Array.filter((other) => other !== part)
    )
  )

const merge = (state: GlobalState, [plugin, fields]: Momentary): GlobalState => {
  const slice = Option.filter(Record.get(state.plugins, plugin), Predicate.isRecord)
  return {
    ...state,
    plugins: { ...state.plugins, [plugin]: { ...Option.getOrElse(slice, () => ({})), ...fields } }
  }
}

/** A failure is logged once, until it works again. */
const orNothing = <A>(message: string, effect: Effect.Effect<A, unknown>): Part<A> => {
  const warning = makeWarnWhile((reason) => `${message}: ${reason}`)
  return Effect.matchCauseEffect(effect, {
    onSuccess: (value) => Effect.as(warning.works, Option.some(value)),
    onFailure: (cause) => Effect.as(warning.fails(messageOf(Cause.squash(cause))), Option.none())
  })
}
