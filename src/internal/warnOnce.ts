/**
 * Warnings about frequent events, logged once.
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

/** Logs the first failure, and the next one only after a success. */
export const makeWarnWhile = (warning: (message: string) => string) => {
  const failing = Ref.unsafeMake(false)
  return {
    isFailing: Ref.get(failing),
    works: Ref.set(failing, false),
    fails: (message: string): Effect.Effect<void> =>
      Effect.flatMap(Ref.getAndSet(failing, true), (wasFailing) =>
        wasFailing ? Effect.void : Effect.logWarning(warning(message))
      )
  }
}

/** Failures since the last success, counted by their kinds. */
export const makeFailures = Effect.map(Ref.make<ReadonlyMap<string, number>>(new Map()), (counts) => ({
  /** Counts a failure. Returns whether it is the first of its kind. */
  add: (kind: string) =>
    Ref.modify(counts, (before) => [
      !before.has(kind),
      new Map([...before, [kind, (before.get(kind) ?? 0) + 1]])
    ]),
  /** For a success: clears the counts, and returns the number of failures. */
  end: Effect.map(Ref.getAndSet(counts, new Map()), (before) =>
    [...before.values()].reduce((sum, count) => sum + count, 0)
  )
}))

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
