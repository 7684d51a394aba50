/**
 * How a command is used.
 */
import { type Command, nameOf, usageOf } from "./Command.ts"
import type { Parameter } from "./Parameter.ts"

/** The line that calls the command, what it does, and its arguments and options. Those of every command are left out. */
export const helpText = (command: Command): string =>
  [
    section("USAGE", `  vitrine ${usageOf(command)}`),
    section("DESCRIPTION", `  ${command.description}`),
    ...list("ARGUMENTS", command.arguments),
    ...list("OPTIONS", command.options)
  ].join("\n\n")

const list = (title: string, parameters: ReadonlyArray<Parameter<unknown>>): ReadonlyArray<string> =>
  parameters.length === 0 ? [] : [section(title, parameters.map(entry).join("\n"))]

const entry = (parameter: Parameter<unknown>): string =>
  `  ${nameOf(parameter)}\n      ${parameter.description}`

const section = (title: string, content: string): string => `${title}\n\n${content}`
