/**
 * The commands of a command line: one declaration each, of which parsing, help and completion are made.
 */
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import {
  type Given,
  type Parameter,
  type ParameterMistake,
  type Parameters,
  readAll,
  type Values
} from "./Parameter.ts"

export interface Command<out E = unknown, out R = unknown> {
  readonly name: string
  readonly description: string
  readonly options: ReadonlyArray<Parameter<unknown>>
  readonly arguments: ReadonlyArray<Parameter<unknown>>
  /** What to run with what was given. */
  readonly bind: (given: Given) => Either.Either<Effect.Effect<void, E, R>, ParameterMistake>
}

export const make = <P extends Parameters, E, R>({
  description,
  name,
  parameters,
  run
}: {
  readonly name: string
  readonly description: string
  readonly parameters: P
  readonly run: (values: Values<P>) => Effect.Effect<void, E, R>
}): Command<E, R> => ({
  name,
  description,
  options: Object.values(parameters).filter(({ kind }) => kind === "option"),
  arguments: Object.values(parameters).filter(({ kind }) => kind === "argument"),
  bind: (given) => Either.map(readAll(parameters, given), run)
})

/** `tables [--port PORT] DIR`, with the option's own brackets. */
export const usageOf = ({ arguments: args, name, options }: Command): string =>
  [name, ...options.map(optionUsage), ...args.map(argumentUsage)].join(" ")

const optionUsage = (option: Parameter<unknown>): string =>
  `[${nameOf(option)}]${option.isRepeated ? "..." : ""}`

const argumentUsage = ({ isRequired, name }: Parameter<unknown>): string => (isRequired ? name : `[${name}]`)

/** As it is given: `--config FILE`, `--detach` or `DIR`. */
export const nameOf = ({ kind, name, value }: Parameter<unknown>): string =>
  kind === "argument" ? name : [`--${name}`, ...Option.toArray(value)].join(" ")

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
