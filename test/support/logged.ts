/**
 * What a test's effects log, as text.
 */
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"

/** Runs with its own log, kept in the array: `WARN Objects.csv: …`. */
export const withLog =
  (lines: Array<string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provide(
      effect,
      Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ logLevel, message }) => {
          lines.push(`${logLevel.label} ${Array.isArray(message) ? message.join(" ") : String(message)}`)
        })
      )
    )
