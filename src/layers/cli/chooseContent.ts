/**
 * Selects a content by the option `--content`.
 */
import * as Effect from "effect/Effect"
import { CliError } from "./command.ts"
import type { Options } from "./program.ts"

/** Selects a content of the controller: by its name, or else the only content. If the controller knows none, another process may have it. */
export const chooseContent = (
  { content: given }: Options,
  contents: ReadonlyArray<{ readonly name: string }>
): Effect.Effect<string, CliError> => {
  const names = contents.map(({ name }) => name).toSorted()
  return names.length === 0 || (given === undefined && names.length === 1)
    ? Effect.succeed(given ?? names[0] ?? "content")
    : given !== undefined && names.includes(given)
      ? Effect.succeed(given)
      : whichContent(given, names)
}

const whichContent = (given: string | undefined, contents: ReadonlyArray<string>) => {
  const problem =
    given === undefined
      ? "There are several contents: add --content NAME"
      : `There is no content ${JSON.stringify(given)}`
  return new CliError({ message: `${problem}. The contents are: ${contents.join(", ")}.` })
}
