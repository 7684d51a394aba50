/**
 * Mutes of problems, with an end: set by commands, and kept in a file over restarts.
 */

import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SynchronizedRef from "effect/SynchronizedRef"
import * as JsonFile from "../../files/JsonFile.ts"
import { printableLine } from "../../internal/printable.ts"
import { withLocalTimes } from "../../internal/readable.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { type Mute, muteProblem, unmuteProblem } from "../../services/Problem.ts"
import type { Mutes } from "../../services/Slices.ts"
import { define } from "../memory/definedCommands.ts"
import { isNamed } from "../status/problems.ts"
import { muteText } from "../status/rows.ts"

/** The largest number of mutes, and the longest time, in milliseconds. */
export const maxMutes = 100
const maxMs = 30 * 86_400_000

/** In characters. */
const maxBy = 64
const maxWhy = 200

/** The request to mute or to end a mute is refused. */
export class NotMuted extends Schema.TaggedError<NotMuted>()("vitrine/NotMuted", {
  message: Schema.String
}) {}

const Asked = muteProblem.fields
type Asked = typeof Asked.Type

/** `None` if the end is invalid or in the past. */
const muteOf = ({ by = "", name, until, why = "" }: Asked, now: number): Option.Option<Mute> => {
  const end = Date.parse(until)
  const reason = printableLine(why, maxWhy)
  return now < end
    ? Option.some({
        name,
        until: new Date(end).toISOString(),
        by: printableLine(by, maxBy) || "somebody",
        why: reason || undefined
      })
    : Option.none()
}

const notMuted = (name: string, mutes: ReadonlyArray<Mute>): string => {
  const muted =
    mutes.length === 0 ? "Nothing is muted" : `Muted names: ${mutes.map(({ name }) => name).join(", ")}`
  return `Nothing is muted by the name ${JSON.stringify(printableLine(name))}. ${printableLine(muted)}.`
}

/**
 * Registers `problem.mute` and `problem.unmute` until the scope ends. Earlier mutes are read from the file; without a
 * file, mutes end with the controller.
 */
export const make = Effect.fnUntraced(function* (path?: string) {
  const { register, state } = yield* ControllerState
  const file = yield* JsonFile.make(path, Asked, {
    read: "nothing is muted",
    written: "a restart ends all mutes"
  })
  const startedAt = yield* Clock.currentTimeMillis
  // However far away their ends are: a machine without a clock battery starts in 1970.
  const saved = (yield* file.read).flatMap((asked) => Option.toArray(muteOf(asked, startedAt)))
  const mutes = yield* SynchronizedRef.make<ReadonlyArray<Mute>>(saved.slice(0, maxMutes))
  const sliceOf = (mutes: ReadonlyArray<Mute>): Mutes => ({ kind: "mutes", mutes })
  const { update } = yield* register({ name: "mutes", slice: sliceOf(yield* SynchronizedRef.get(mutes)) })

  /**
   * Changes the mutes that have not ended, and gives whether the disk keeps them. A caller that leaves would divide the
   * file from the state.
   */
  const change = (f: (before: ReadonlyArray<Mute>) => Effect.Effect<ReadonlyArray<Mute>, NotMuted>) =>
    SynchronizedRef.modifyEffect(mutes, (before) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const after = yield* f(before.filter(({ until }) => now < Date.parse(until)))
        const isKept = yield* file.write(after)
        yield* update(() => sliceOf(after))
        return [isKept, after] as const
      })
    ).pipe(Effect.uninterruptible)

  const mute = Effect.fnUntraced(function* (asked: Asked) {
    const now = yield* Clock.currentTimeMillis
    const muted = yield* Effect.mapError(
      Option.filter(muteOf(asked, now), ({ until }) => Date.parse(until) <= now + maxMs),
      () =>
        new NotMuted({ message: "Not muted: the mute must end in the next 30 days, at a time in ISO 8601." })
    )
    const isKept = yield* change((before) => {
      const others = before.filter(({ name }) => name !== muted.name)
      return others.length < maxMutes
        ? Effect.succeed([...others, muted])
        : new NotMuted({ message: `Not muted: there are ${maxMutes} mutes already. End one of them first.` })
    })
    yield* Effect.logInfo(`Muted: ${printableLine(muted.name)}, ${withLocalTimes(muteText(muted), now)}`)
    const { problems = [] } = yield* state
    return {
      ...muted,
      problems: problems.filter((problem) => isNamed(problem, muted.name)).length,
      isKept: isKept ? undefined : false
    }
  })

  const unmute = Effect.fnUntraced(function* ({ by = "", name }: Pick<Asked, "by" | "name">) {
    yield* change((before) => {
      const others = before.filter((mute) => mute.name !== name)
      return others.length < before.length
        ? Effect.succeed(others)
        : new NotMuted({ message: notMuted(name, before) })
    })
    yield* Effect.logInfo(
      `No longer muted, by ${printableLine(by, maxBy) || "somebody"}: ${printableLine(name)}`
    )
    return null
  })

  yield* define(muteProblem).register(mute)
  yield* define(unmuteProblem).register(unmute)
})
