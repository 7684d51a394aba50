/**
 * What the arguments of the process ask for, and what is wrong with them.
 */
import { parseArgs } from "node:util"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { closestMatch } from "leven"
import { type Command, nameOf, usageOf } from "./Command.ts"
import type { Shell } from "./completions.ts"
import { globalOptions } from "./options.ts"
import { type Given, type Parameter, type ParameterMistake, readAll } from "./Parameter.ts"

export class ArgumentMistake extends Schema.TaggedError<ArgumentMistake>()("vitrine/ArgumentMistake", {
  detail: Schema.String,
  /** Whose help tells what would be right: `vitrine start`, for example. */
  command: Schema.String
}) {
  override get message() {
    return `${this.detail} See: ${this.command} --help`
  }
}

export interface Asked<E, R> {
  readonly request: Request<E, R>
  readonly logLevel: Option.Option<LogLevel.LogLevel>
  /** What `--log-format` says, of commands that have it. */
  readonly logFormat: Option.Option<string>
}

export type Request<E, R> =
  /** Of the command; of all, if there is none. */
  | { readonly _tag: "Help"; readonly command: Option.Option<Command<E, R>> }
  | { readonly _tag: "Version" }
  | { readonly _tag: "Completions"; readonly shell: Shell }
  | { readonly _tag: "Run"; readonly run: Effect.Effect<void, E, R> }

/** Fails with the first mistake there is in the name of the command, in an option, a value or an argument. */
export const readArguments = Effect.fnUntraced(function* <E, R>(
  commands: ReadonlyArray<Command<E, R>>,
  args: ReadonlyArray<string>
) {
  const { commandAt, options, positionals } = parse(args, commands)
  const given = givenBy(options)
  const isHelpCommand = positionals[0] === "help"
  const [name, ...operands] = isHelpCommand ? positionals.slice(1) : positionals
  const command = yield* Effect.transposeMapOption(Option.fromNullable(name), (name) =>
    findCommand(commands, name)
  )
  const asked = (request: Request<E, R>, logLevel: Asked<E, R>["logLevel"]): Asked<E, R> => ({
    request,
    logLevel,
    logFormat: Array.last(given.get("log-format") ?? [])
  })
  if (isHelpCommand || given.has("help")) {
    return asked({ _tag: "Help", command }, Option.none())
  }

  const orMistake = Either.mapLeft(
    (detail: string) =>
      new ArgumentMistake({
        detail,
        command: ["vitrine", ...Option.toArray(Option.fromNullable(name))].join(" ")
      })
  )
  yield* orMistake(checkOptions(options, commandAt, command))
  const { completions, logLevel, version } = yield* orMistake(
    Either.mapLeft(readAll(globalOptions, given), textOf)
  )
  const level = Option.flatMap(logLevel, levelOf)
  if (version) {
    return asked({ _tag: "Version" }, level)
  }
  if (Option.isSome(completions)) {
    return asked({ _tag: "Completions", shell: completions.value }, level)
  }
  return Option.isSome(command)
    ? asked({ _tag: "Run", run: yield* orMistake(bind(command.value, given, operands)) }, level)
    : asked({ _tag: "Help", command }, level)
})

const levelOf = (name: string) =>
  Array.findFirst(LogLevel.allLevels, ({ _tag }) => _tag.toLowerCase() === name)

const findCommand = <E, R>(commands: ReadonlyArray<Command<E, R>>, name: string) =>
  Effect.mapError(
    Array.findFirst(commands, (command) => command.name === name),
    () => {
      const names = commands.map(({ name }) => name).sort()
      const detail = `There is no command ${JSON.stringify(name)}; there are ${names.join(", ")}.${suggestion(name, names)}`
      return new ArgumentMistake({ detail, command: "vitrine" })
    }
  )

/** Of what was probably meant. */
const suggestion = (name: string, names: ReadonlyArray<string>, dashes = ""): string => {
  const begun = names.filter((other) => name.length > 1 && other.startsWith(name))
  const closest =
    begun.length === 1 ? begun[0] : closestMatch(name, [...names], { maxDistance: name.length > 3 ? 2 : 1 })
  return closest === undefined ? "" : ` Did you mean ${dashes}${closest}?`
}

/** Options that are unknown are flags here, so that what follows them is an argument. */
const parse = (args: ReadonlyArray<string>, commands: ReadonlyArray<Command>) => {
  const known = [...Object.values(globalOptions), ...commands.flatMap(({ options }) => options)]
  const { positionals, tokens } = parseArgs({
    args: [...args],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      known.map(({ name, value }) => [
        name,
        { type: Option.isSome(value) ? "string" : "boolean", ...(name === "help" ? { short: "h" } : {}) }
      ])
    )
  })
  return {
    positionals,
    commandAt: tokens.find(({ kind }) => kind === "positional")?.index ?? Number.POSITIVE_INFINITY,
    options: tokens.filter((token) => token.kind === "option")
  }
}

type GivenOptions = ReturnType<typeof parse>["options"]

/** The values of options by their names; a flag that is given has an empty one. */
const givenBy = (options: GivenOptions): Given => {
  const given = new Map<string, ReadonlyArray<string>>()
  for (const { name, value = "" } of options) {
    given.set(name, [...(given.get(name) ?? []), value])
  }
  return given
}

/** That each is one of the command, in its place, and has a value exactly if it needs one. */
const checkOptions = (
  options: GivenOptions,
  commandAt: number,
  command: Option.Option<Command>
): Either.Either<void, string> => {
  const own: ReadonlyArray<Parameter<unknown>> = Option.match(command, {
    onNone: () => [],
    onSome: ({ options }) => options
  })
  const known = [...Object.values(globalOptions), ...own]
  const mistake = Array.findFirst(options, ({ index, inlineValue, name, rawName, value }) => {
    const option = known.find((option) => option.name === name)
    if (option === undefined) {
      const names = known.map(({ name }) => name)
      return Option.some(`There is no option ${rawName}.${suggestion(name, names, "--")}`)
    }
    if (index < commandAt && own.includes(option)) {
      return Option.some(`The option ${rawName} belongs behind the command.`)
    }
    if (Option.isNone(option.value)) {
      return inlineValue === true ? Option.some(`The option ${rawName} takes no value.`) : Option.none()
    }
    return value === undefined || (inlineValue !== true && value.startsWith("--"))
      ? Option.some(`The option ${rawName} needs a value: ${nameOf(option)}.`)
      : Option.none()
  })
  return Option.match(mistake, { onNone: () => Either.void, onSome: Either.left })
}

const bind = <E, R>(command: Command<E, R>, given: Given, operands: ReadonlyArray<string>) => {
  const names = command.arguments.map(({ name }) => name)
  const unexpected = operands[names.length]
  if (unexpected !== undefined) {
    const taken = names.length === 0 ? "no arguments" : names.join(" ")
    return Either.left(
      `Unexpected argument ${JSON.stringify(unexpected)}: vitrine ${command.name} takes ${taken}.`
    )
  }
  const positioned = Array.zip(names, operands).map(([name, operand]) => [name, [operand]] as const)
  return Either.mapLeft(command.bind(new Map([...given, ...positioned])), (mistake) =>
    mistake.parameter.kind === "argument"
      ? `The argument ${mistake.parameter.name} is missing: vitrine ${usageOf({ ...command, options: [] })}.`
      : textOf(mistake)
  )
}

const textOf = ({ expected, given, parameter }: ParameterMistake): string =>
  `The option --${parameter.name} takes ${expected}${Option.match(given, {
    onNone: () => "",
    onSome: (text) => `, and not ${JSON.stringify(text)}`
  })}.`
