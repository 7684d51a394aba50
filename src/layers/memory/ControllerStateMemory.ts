/**
 * The state and the view of the controller in this process.
 */
import { isDeepStrictEqual } from "node:util"
import * as Array from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { constFalse, flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import * as Struct from "effect/Struct"
import * as SynchronizedRef from "effect/SynchronizedRef"
import { nodeId } from "../../internal/machine.ts"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import {
  type ControllerReading,
  ControllerState,
  type GlobalState,
  type Identity,
  type Mode,
  type PluginReading,
  type ReadingContext,
  type ReadSlice,
  type Section
} from "../../services/ControllerState.ts"
import * as Players from "../screens/PlayersReading.ts"
import { playersOf } from "../screens/players.ts"
import { screensOf } from "../screens/screens.ts"
import { unwatchedScreens } from "../screens/unwatched.ts"
import { nothingRemembered, type Remembered } from "../status/problems.ts"
import { makeView } from "../status/view.ts"

/** The parts that make up the view. */
interface Parts {
  /** The state without momentary fields. */
  readonly state: GlobalState
  readonly momentary: ReadonlyArray<Part<Momentary>>
  readonly sections: ReadonlyArray<Part<Section>>
  readonly readings: ReadonlyArray<Reader>
}

/** The facts that a view is made from. */
interface Facts {
  readonly parts: Parts
  readonly fields: ReadonlyArray<Momentary>
  readonly added: ReadonlyArray<Section>
  /** In milliseconds, by the monotonic clock. */
  readonly at: number
}

interface Latest {
  readonly facts: Facts
  readonly reading: ControllerReading
  readonly remembered: Remembered
}

/** How long a view is used while nothing changes, in milliseconds. It depends on the time: a screen becomes silent. */
const freshMs = 1000

const isFresh =
  ({ added, at, fields, parts }: Facts) =>
  ({ facts }: Latest): boolean =>
    facts.parts === parts && at - facts.at < freshMs && isEqual([facts.fields, facts.added], [fields, added])

/** A value of another's plugin may throw while it is compared: then the view is made again. */
const isEqual = flow(Option.liftThrowable(isDeepStrictEqual), Option.getOrElse(constFalse))

/**
 * The state of a controller that starts now in this mode, without plugins. The id of its node is by default the short
 * name of the host.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (mode: Mode, given?: Identity) =>
  Effect.gen(function* () {
    const identity = given ?? { node: { id: yield* nodeId } }
    const startTime = new Date(yield* Clock.currentTimeMillis).toISOString()
    const startedAt = yield* monotonicMillis
    const parts = yield* Ref.make<Parts>({
      state: { system: { startTime, mode, ...identity }, plugins: {}, _version: 0 },
      momentary: [],
      sections: [],
      readings: [
        makeReader("players", Players.reading),
        makeReader("screens", (_slice, context) => ({ unwatched: unwatchedScreens(context) }))
      ]
    })
    const latest = yield* SynchronizedRef.make(Option.none<Latest>())

    const makeReading = Effect.fnUntraced(function* (
      { added, at, fields, parts }: Facts,
      remembered: Remembered
    ) {
      const state = fields.reduce(merge, parts.state)
      const now = yield* Clock.currentTimeMillis
      const context = { now, state, screens: screensOf(state, now), players: playersOf(state, now) }
      const readings = yield* readAll(parts.readings.map((read) => read(context)))
      const header = { startTime, uptimeMs: at - startedAt, mode, node: identity.node }
      return makeView({ ...context, header, readings, added }, remembered)
    })

    // One view at a time: the earlier problems are read and replaced in one step.
    const read = SynchronizedRef.modifyEffect(
      latest,
      Effect.fnUntraced(function* (before) {
        const current = yield* Ref.get(parts)
        const [fields, added] = yield* Effect.all([readAll(current.momentary), readAll(current.sections)], {
          concurrency: "unbounded"
        })
        const facts: Facts = { parts: current, fields, added, at: yield* monotonicMillis }
        const fresh = Option.filter(before, isFresh(facts))
        if (Option.isSome(fresh)) {
          return [fresh.value.reading, fresh] as const
        }
        const remembered = Option.match(before, {
          onNone: () => nothingRemembered,
          onSome: (latest) => latest.remembered
        })
        const made = yield* makeReading(facts, remembered)
        return [made.reading, Option.some({ facts, ...made })] as const
      })
    )

    /** Adds a part until the scope ends. */
    const addTo = <K extends "momentary" | "sections" | "readings">(key: K, part: Parts[K][number]) => {
      const update = (f: (before: ReadonlyArray<Parts[K][number]>) => ReadonlyArray<Parts[K][number]>) =>
        Ref.update(parts, (before) => ({ ...before, [key]: f(before[key]) }))
      return Effect.acquireRelease(update(Array.append(part)), () =>
        update(Array.filter((other) => other !== part))
      )
    }

    return ControllerState.of({
      mode,
      read,
      state: Effect.map(read, ({ state }) => state),
      updateSlice: (plugin, f) =>
        Ref.update(parts, ({ state: { _version, plugins, system }, ...others }) => ({
          ...others,
          state: {
            system,
            plugins: { ...plugins, [plugin]: f(Option.getOrUndefined(Record.get(plugins, plugin))) },
            _version: _version + 1
          }
        })),
      addMomentary: (plugin, fields) =>
        addTo(
          "momentary",
          orNothing(`The momentary state of "${plugin}" could not be read`)(
            limited(Effect.map(fields, (fields) => [plugin, fields] as const))
          )
        ),
      addReading: (plugin, read) => addTo("readings", makeReader(plugin, read)),
      addSection: ({ rows, ...head }) =>
        addTo(
          "sections",
          orNothing(`The status section "${head.name}" could not be built`)(
            limited(Effect.map(rows, (rows) => ({ ...head, rows })))
          )
        ),
      status: Effect.map(read, ({ view }) => Struct.pick(view, "header", "sections"))
    })
  })

/**
 * The state of a controller in the given mode. The id of its node is by default the short name of the host.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (mode: Mode, identity?: Identity): Layer.Layer<ControllerState> =>
  Layer.effect(ControllerState, make(mode, identity))

/** A part that is read on demand; `None` if that fails. */
type Part<A> = Effect.Effect<Option.Option<A>>

/** The name of a plugin, and fields of its slice. */
type Momentary = readonly [plugin: string, fields: object]

/** Reads the slice of a plugin: gives its name, sections, problems and metrics. */
type Reader = (context: ReadingContext) => Part<readonly [plugin: string, reading: PluginReading]>

const makeReader = (plugin: string, read: ReadSlice): Reader => {
  const orLeftOut = orNothing(`The status of "${plugin}" could not be made from its state`)
  return (context) =>
    orLeftOut(
      Effect.sync(
        () =>
          [plugin, read(Option.getOrUndefined(Record.get(context.state.plugins, plugin)), context)] as const
      )
    )
}

const readAll = <A>(parts: ReadonlyArray<Part<A>>) =>
  Effect.map(Effect.all(parts, { concurrency: "unbounded" }), Array.getSomes)

const merge = (state: GlobalState, [plugin, fields]: Momentary): GlobalState => {
  const slice = Option.filter(Record.get(state.plugins, plugin), Predicate.isRecord)
  return {
    ...state,
    plugins: { ...state.plugins, [plugin]: { ...Option.getOrElse(slice, () => ({})), ...fields } }
  }
}

/** How long a part may take, by the clock of the machine: all readers of the view wait for it. */
const partTimeout = "1 second"

/** How long a part is left out after it took too long, in milliseconds: readers must not wait for it each time. */
const leftOutMs = 60_000

/** Fails if the effect takes too long, and then at once for a minute. For example, an effect that reads the view waits for itself. */
const limited = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A, unknown> => {
  const leftOutUntil = Ref.unsafeMake(Number.NEGATIVE_INFINITY)
  const tooLong = Effect.fail(`it took longer than ${partTimeout}, and is left out for a minute`)
  const leaveOut = Effect.flatMap(monotonicMillis, (now) => Ref.set(leftOutUntil, now + leftOutMs))
  const end = Effect.withClock(Effect.sleep(partTimeout), Clock.make()).pipe(
    Effect.zipRight(leaveOut),
    Effect.zipRight(tooLong),
    Effect.interruptible
  )
  // biome-ignore lint/plugin: readers never wait for an effect that hangs, also not for its end
  const inTime = effect.pipe(Effect.disconnect, Effect.interruptible, Effect.raceFirst(end))
  return Effect.gen(function* () {
    const now = yield* monotonicMillis
    return yield* now < (yield* Ref.get(leftOutUntil)) ? tooLong : inTime
  })
}

/** Gives `None` on failure. A failure is logged once until the part works again. */
const orNothing = (message: string) => {
  const warning = makeWarnWhile((reason) => `${message}: ${reason}`)
  return <A>(effect: Effect.Effect<A, unknown>): Part<A> =>
    Effect.matchCauseEffect(effect, {
      onSuccess: (value) => Effect.as(warning.works, Option.some(value)),
      onFailure: (cause) => Effect.as(warning.fails(messageOf(Cause.squash(cause))), Option.none())
    })
}
