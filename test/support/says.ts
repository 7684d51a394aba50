/**
 * A command of `vitrine` in this process.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { vi } from "vitest"
import { execute } from "../../src/commandLine.ts"
import * as vitrine from "../../src/index.ts"
import { VitrineModule } from "../../src/layers/cli/command.ts"
import { type CommandName, type Given, makeProgram, type Options } from "../../src/layers/cli/program.ts"
import { quickStatus } from "../../src/layers/cli/quickStatus.ts"

/** What is run with these arguments. A mistake in them is thrown. */
export const given = async (...args: ReadonlyArray<string>): Promise<Given> => {
  const all: Array<Given> = []
  await makeProgram("1.2.3", (given) => void all.push(given)).parseAsync(args, { from: "user" })
  const [first] = all
  if (first === undefined) {
    throw new Error(`These arguments run no command: ${args.join(" ")}`)
  }
  return first
}

/** Runs the command with what configurations import as `vitrine`, and returns what it says on standard output. */
export const saysWith =
  (library: object) =>
  (...args: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const console = yield* Console.consoleWith(Effect.succeed)
      const running = execute(yield* Effect.promise(() => given(...args)))
      yield* Console.withConsole(running, {
        ...console,
        log: (text) => Effect.sync(() => void said.push(String(text)))
      }).pipe(Effect.provideService(VitrineModule, Effect.succeed(library)))
      return said
    })

export const says = saysWith(vitrine)

/** What the command prints without Effect, and whether the controller has answered. */
export const quickly = (name: CommandName, options: Options) =>
  Effect.acquireUseRelease(
    Effect.sync(() => vi.spyOn(globalThis.console, "log").mockImplementation(() => {})),
    (log) =>
      Effect.map(
        Effect.promise(() => quickStatus({ name, options })),
        (hasAnswered) => ({ hasAnswered, printed: log.mock.calls.flat().join("\n") })
      ),
    (log) => Effect.sync(() => log.mockRestore())
  )
