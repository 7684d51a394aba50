/**
 * Warnings about frequent events, logged once, or once until it works again.
 */
import * as Effect from "effect/Effect"
import * as HashSet from "effect/HashSet"
import * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import { errorCode } from "./serializeError.ts"

/** The most names with a warning; the last warning says that no more will come. */
export const maxNames = 100

/** Logs the warning the first time for each name. */
export const makeWarnOnce = (warning: (name: string) => string) => {
  const warned = Ref.unsafeMake(HashSet.empty<string>())
  return (name: string): Effect.Effect<void> =>
    Ref.modify(warned, (before) => {
      if (HashSet.has(before, name) || HashSet.size(before) === maxNames) {
        return [Effect.void, before]
      }
      const isLast = HashSet.size(before) === maxNames - 1
      return [
        Effect.logWarning(`${warning(name)}${isLast ? " Further names are not logged." : ""}`),
        HashSet.add(before, name)
      ]
    }).pipe(Effect.flatten)
}

/** Failures since the last success, counted by their kinds. */
type Failures = ReadonlyMap<string, number>

const none: Failures = new Map()

/** How many kinds of failures are logged until a success. */
const maxKinds = 16

/** Logs the first failure of each kind, and the next one only after a success. A success after a failure logs `again`. */
export const makeWarnWhile = (warning: (message: string) => string, again?: string) => {
  const failures = Ref.unsafeMake(none)
  return {
    isFailing: Effect.map(Ref.get(failures), ({ size }) => size > 0),
    /** Returns the number of failures since the last success. */
    works: Effect.flatMap(Ref.getAndSet(failures, none), (before) =>
      Effect.as(
        before.size === 0 || again === undefined ? Effect.void : Effect.logInfo(again),
        [...before.values()].reduce((sum, count) => sum + count, 0)
      )
    ),
    /** Returns whether it is the first failure of its kind. */
    fails: (message: string, kind = ""): Effect.Effect<boolean> =>
      Ref.modify(failures, (before) => {
        const isFirst = !before.has(kind) && before.size < maxKinds
        const known = isFirst || before.has(kind) ? kind : ""
        return [
          Effect.as(isFirst ? Effect.logWarning(warning(message)) : Effect.void, isFirst),
          new Map([...before, [known, (before.get(known) ?? 0) + 1]])
        ]
      }).pipe(Effect.flatten)
  }
}

/**
 * The kind of a failure, independent of the file, record or server in it: the system's code in the chain of causes,
 * or else the names and reasons in the chain.
 */
export const kindOf = (error: unknown): string => errorCode(error) ?? namesOf(error)

const namesOf = (error: unknown, depth = 0): string =>
  Predicate.hasProperty(error, "name") && depth < 8
    ? [
        error.name,
        Predicate.hasProperty(error, "reason") ? error.reason : "",
        Predicate.hasProperty(error, "cause") ? namesOf(error.cause, depth + 1) : ""
      ].join(" ")
    : ""
