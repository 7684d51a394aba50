/**
 * A command of `vitrine` in this process.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type { Command } from "../../../src/layers/commandLine/Command.ts"
import { readArguments } from "../../../src/layers/commandLine/readArguments.ts"

/** Carries the command out, and gives what it says on standard output. */
export const says = <E, R>(command: Command<E, R>, ...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const console = yield* Console.consoleWith(Effect.succeed)
    const { request } = yield* readArguments([command], args)
    if (request._tag !== "Run") {
      return yield* Effect.dieMessage(`These are no arguments to run a command: ${args.join(" ")}`)
    }
    yield* Console.withConsole(request.run, {
      ...console,
      log: (text) => Effect.sync(() => void said.push(String(text)))
    })
    return said
  })
