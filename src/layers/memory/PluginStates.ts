/**
 * The slices and live fields of all plugins of this process, and the view that is made of them.
 */
import { isDeepStrictEqual } from "node:util"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { constFalse, flow } from "effect/Function"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import * as Struct from "effect/Struct"
import { nodeId } from "../../internal/machine.ts"
import { monotonicMillis, now, stepMs } from "../../internal/monotonicMillis.ts"
import {
  type ControllerSnapshot,
  ControllerState,
  type Identity,
  type Mode,
  type PluginRegistration
} from "../../services/ControllerState.ts"
import type { MakeView, PluginFacts } from "../../services/PluginFacts.ts"
import * as LiveFields from "./LiveFields.ts"

interface Registered extends Pick<PluginFacts, "name" | "report"> {
  readonly slice: () => unknown
  readonly live: LiveFields.LiveFields | undefined
}

interface Parts {
  readonly version: number
  readonly plugins: ReadonlyArray<Registered>
}

/** The last view, and the facts that it was made from. */
interface Latest<Remembered> {
  readonly parts: Parts
  readonly facts: ReadonlyArray<PluginFacts>
  /** In milliseconds, by the monotonic clock. */
  readonly at: number
  readonly snapshot: ControllerSnapshot
  readonly remembered: Remembered
}

/** How long a view is used while nothing changes, in milliseconds. It depends on the time: a screen becomes silent. */
const freshMs = 1000

/** A value of another's plugin may throw while it is compared: then the view is made again. */
const isEqual = flow(Option.liftThrowable(isDeepStrictEqual), Option.getOrElse(constFalse))

const fieldsOf = (facts: ReadonlyArray<PluginFacts>) =>
  facts.map(({ fields, readAt, unread }) => [fields, readAt, unread?.since, unread?.reason])

/** Reads the live fields, and waits for all of them together. */
const readLive = Effect.fnUntraced(function* (plugins: Parts["plugins"]) {
  const at = yield* now
  const reads = yield* Effect.forEach(
    plugins.flatMap(({ live }) => live ?? []),
    ({ begin }) => begin(at)
  )
  // Most fields are in memory: they are there after a turn, without a timer.
  yield* Effect.yieldNow()
  const open = reads.flatMap((fiber) => (fiber === undefined || fiber.unsafePoll() !== null ? [] : fiber))
  if (open.length > 0) yield* LiveFields.untilEnded(open)
})

/**
 * The state of a controller that starts now in this mode, without plugins. The id of its node is by default the short
 * name of the host.
 */
export const make = <Remembered>(makeView: MakeView<Remembered>, mode: Mode, given?: Identity) =>
  Effect.gen(function* () {
    const identity = given ?? { node: { id: nodeId() } }
    let system = { startTime: new Date(yield* Clock.currentTimeMillis).toISOString(), mode, ...identity }
    const startedAt = yield* monotonicMillis
    const parts = yield* Ref.make<Parts>({ version: 0, plugins: [] })
    const latest = yield* Ref.make(Option.none<Latest<Remembered>>())
    const looking = yield* Effect.makeSemaphore(1)

    const look = Effect.gen(function* () {
      yield* readLive((yield* Ref.get(parts)).plugins)
      const current = yield* Ref.get(parts)
      const { monotonic: at, wall } = yield* now
      const facts = current.plugins.map(
        ({ live, name, report, slice }): PluginFacts => ({
          name,
          report,
          slice: slice(),
          ...live?.get({ monotonic: at, wall })
        })
      )
      const before = yield* Ref.get(latest)
      const fresh = Option.filter(
        before,
        (latest) =>
          latest.parts === current &&
          at - latest.at < freshMs &&
          isEqual(fieldsOf(latest.facts), fieldsOf(facts))
      )
      if (Option.isSome(fresh)) {
        return fresh.value.snapshot
      }
      const startTime = new Date(wall - (at - startedAt)).toISOString()
      // Somebody has set the clock.
      if (Math.abs(Date.parse(startTime) - Date.parse(system.startTime)) > stepMs) {
        system = { ...system, startTime }
      }
      const input = {
        now: wall,
        system,
        uptimeMs: at - startedAt,
        version: current.version,
        plugins: facts
      }
      const made = makeView(input, Option.getOrUndefined(before)?.remembered)
      yield* Ref.set(latest, Option.some({ parts: current, facts, at, ...made }))
      return made.snapshot
    })

    // A caller that comes during a look needs the next one: this look may have read what has changed since.
    let begun = 0
    let done: { readonly number: number; readonly snapshot: ControllerSnapshot } | undefined
    const read = Effect.suspend(() => {
      const seen = begun
      return Effect.suspend(() => {
        if (done !== undefined && done.number > seen) {
          return Effect.succeed(done.snapshot)
        }
        const number = ++begun
        return Effect.tap(look, (snapshot) =>
          Effect.sync(() => {
            done = { number, snapshot }
          })
        )
      }).pipe(looking.withPermits(1))
    })

    const register = <S>({ live, name, report, slice }: PluginRegistration<S>) =>
      Effect.gen(function* () {
        let current = slice
        const fields = live && (yield* LiveFields.make(live))
        const plugin: Registered = { name, report, slice: () => current, live: fields }
        const change = (f: (plugins: Parts["plugins"]) => Parts["plugins"]) =>
          Ref.update(parts, ({ plugins, version }) => ({
            plugins: f(plugins),
            version: current === undefined ? version : version + 1
          }))
        yield* Effect.acquireRelease(change(Array.append(plugin)), () =>
          Effect.zipRight(change(Array.filter((other) => other !== plugin)), fields?.end ?? Effect.void)
        )
        return {
          update: (f: (slice: S | undefined) => S) =>
            Effect.suspend(() => {
              current = f(current)
              return Ref.update(parts, (parts) => ({ ...parts, version: parts.version + 1 }))
            })
        }
      })

    const scope = yield* Scope.make()
    const withoutPlugin = yield* Effect.cachedFunction((name: string) =>
      Effect.uninterruptible(Scope.extend(register({ name }), scope))
    )

    return ControllerState.of({
      mode,
      read,
      register,
      updateSlice: (name, f) => Effect.flatMap(withoutPlugin(name), ({ update }) => update(f)),
      state: Effect.map(read, ({ state }) => state),
      status: Effect.map(read, ({ view }) => Struct.pick(view, "header", "sections"))
    })
  })
