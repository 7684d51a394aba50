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
  type PluginReading,
  type ReadingContext,
  type ReadSlice,
  type Section
} from "../../services/ControllerState.ts"
import { gather } from "../status/gather.ts"
import * as machine from "../status/machineReading.ts"
import { nothingRemembered, type Remembered, remember } from "../status/standingProblems.ts"

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
    const readings = yield* Ref.make<ReadonlyArray<Reader>>([])
    const ofMachine = makeReader("system", machine.reading)
    const remembered = yield* Ref.make<{ readonly reading: number; readonly problems: Remembered }>({
      reading: 0,
      problems: nothingRemembered
    })
    let readingsBegun = 0

    const read = Effect.gen(function* () {
      const reading = ++readingsBegun
      const fields = yield* readAll(yield* Ref.get(momentary))
      const sections = yield* readAll(yield* Ref.get(added))
      const state = fields.reduce(merge, yield* Ref.get(resting))
      const now = yield* Clock.currentTimeMillis
      const readers = [...(yield* Ref.get(readings)), ofMachine]
      const said = yield* readAll(readers.map((read) => read({ now, state })))
      const { problems, ...gathered } = gather(state, said, sections, now)
      const standing = yield* Ref.modify(remembered, (before) => {
        const { problems: standing, remembered } = remember(
          before.problems,
          problems,
          new Date(now).toISOString()
        )
        // Problems of an older reading, which waited longer, are no longer those of now.
        return [standing, reading < before.reading ? before : { reading, problems: remembered }]
      })
      return { ...gathered, now, state: { ...state, problems: standing } }
    })

    return ControllerState.of({
      mode,
      read,
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
          orNothing(`What the state says of "${plugin}" could not be read`)(
            Effect.map(fields, (fields) => [plugin, fields] as const)
          )
        ),
      addReading: (plugin, read) => addTo(readings, makeReader(plugin, read)),
      addSection: ({ rows, ...head }) =>
        addTo(
          added,
          orNothing(`The status section "${head.name}" could not be built`)(
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

/** What a plugin says, and its name. */
type Reader = (context: ReadingContext) => Part<readonly [plugin: string, reading: PluginReading]>

const makeReader = (plugin: string, read: ReadSlice): Reader => {
  const orLeftOut = orNothing(`What "${plugin}" says of its state could not be read`)
  return (context) =>
    orLeftOut(
      Effect.sync(
        () =>
          [plugin, read(Option.getOrUndefined(Record.get(context.state.plugins, plugin)), context)] as const
      )
    )
}

const readAll = <A>(parts: ReadonlyArray<Part<A>>) => Effect.map(Effect.all(parts), Array.getSomes)

/** Until the scope ends. */
const addTo = <A>(parts: Ref.Ref<ReadonlyArray<A>>, part: A) =>
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
const orNothing = (message: string) => {
  const warning = makeWarnWhile((reason) => `${message}: ${reason}`)
  return <A>(effect: Effect.Effect<A, unknown>): Part<A> =>
    Effect.matchCauseEffect(effect, {
      onSuccess: (value) => Effect.as(warning.works, Option.some(value)),
      onFailure: (cause) => Effect.as(warning.fails(messageOf(Cause.squash(cause))), Option.none())
    })
}
