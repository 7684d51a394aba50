/**
 * Output without colours, where nobody sees them or nobody wants them.
 */
import { stripVTControlCharacters } from "node:util"
import * as Console from "effect/Console"
import type * as Effect from "effect/Effect"

/** Whether text for the stream may have colours: on a terminal, unless `NO_COLOR` is set. */
export const isColourful = ({ isTTY }: Pick<NodeJS.WriteStream, "isTTY">): boolean =>
  isTTY === true && (process.env.NO_COLOR ?? "") === ""

/** Takes the colours out of what the effect writes to the console, as far as they are out of place. */
export const withFittingColours = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Console.consoleWith((console) =>
    Console.withConsole(effect, {
      ...console,
      log: (...args) => console.log(...fitting(process.stdout, args)),
      error: (...args) => console.error(...fitting(process.stderr, args))
    })
  )

const fitting = (stream: NodeJS.WriteStream, args: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  isColourful(stream)
    ? args
    : args.map((arg) => (typeof arg === "string" ? stripVTControlCharacters(arg) : arg))
