/**
 * A command of `vitrine` in this process.
 */
import * as Command from "@effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"

/** Carries the command out, and gives what it says on standard output. */
export const says = <Name extends string, R, E, A>(
  command: Command.Command<Name, R, E, A>,
  ...args: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const console = yield* Console.consoleWith(Effect.succeed)
    yield* Command.run(Command.withSubcommands(Command.make("vitrine"), [command]), {
      name: "vitrine",
      version: "0.0.0"
    })(["node", "vitrine", ...args]).pipe(
      Console.withConsole({ ...console, log: (text) => Effect.sync(() => void said.push(String(text))) })
    )
    return said
  })
