/**
 * What the arguments of the process ask for, and what is wrong with them.
 *
 * The library that parses them afterwards does not say which option lacks its value or was given a wrong one.
 */
import { parseArgs } from "node:util"
import * as Descriptor from "@effect/cli/CommandDescriptor"
import type * as Usage from "@effect/cli/Usage"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

export class ArgumentMistake extends Schema.TaggedError<ArgumentMistake>()("ArgumentMistake", {
  detail: Schema.String,
  /** Whose help tells what would be right: `vitrine start`, for example. */
  command: Schema.String
}) {
  override get message() {
    return `${this.detail} See: ${this.command} --help`
  }
}

type Command = Descriptor.Command<unknown>

export interface Asked {
  /** What for; none where everything is meant. */
  readonly command: Option.Option<Command>
  readonly isHelpWanted: boolean
  /** The shell for which a completion script is wanted. */
  readonly completions: unknown
  /** Whether everything is to be told, as to somebody who looks for a mistake. */
  readonly isDebugging: boolean
  readonly logFormat: unknown
}

/** Fails with the first mistake there is in the name of the command, in an option or in the value of one. */
export const readArguments = Effect.fnUntraced(function* (program: Command, args: ReadonlyArray<string>) {
  const commands = Descriptor.getSubcommands(program)
  const { positionals, tokens, values } = parse(args, [...HashMap.values(commands)].flatMap(optionsOf))
  const isHelpWanted = values.help === true || positionals[0] === "help"
  const name = Option.fromNullable(positionals[positionals[0] === "help" ? 1 : 0])

  const command = yield* Effect.transposeMapOption(name, (name) =>
    Effect.mapError(HashMap.get(commands, name), () => {
      const names = [...HashMap.keys(commands)].sort().join(", ")
      const detail = `There is no command ${JSON.stringify(name)}; there are ${names}.`
      return new ArgumentMistake({ detail, command: "vitrine" })
    })
  )
  const own = Option.match(command, { onNone: () => [], onSome: optionsOf })
  const commandAt = tokens.findIndex(({ kind }) => kind === "positional")
  const mistake = Array.findFirst(tokens, (token, index) => {
    if (token.kind !== "option" || isHelpWanted) {
      return Option.none()
    }
    return index < commandAt && own.some(({ name }) => name === token.name)
      ? Option.some(`The option ${token.rawName} belongs behind the command.`)
      : mistakeIn(token, [...everywhere, ...own])
  })
  if (Option.isSome(mistake)) {
    const called = ["vitrine", ...Option.toArray(name)].join(" ")
    return yield* new ArgumentMistake({ detail: mistake.value, command: called })
  }
  const asked: Asked = {
    command,
    isHelpWanted,
    completions: values.completions,
    isDebugging: ["all", "trace", "debug"].includes(String(values["log-level"])),
    logFormat: values["log-format"]
  }
  return asked
})

interface OptionUsage {
  readonly name: string
  /** What its value is, `file` or `text | json` for example. A flag has none. */
  readonly value: Option.Option<string>
}

/** What the library gives to every command. */
const everywhere: ReadonlyArray<OptionUsage> = [
  {
    name: "log-level",
    value: Option.some(LogLevel.allLevels.map(({ _tag }) => _tag.toLowerCase()).join(" | "))
  },
  { name: "completions", value: Option.some("bash | zsh | fish | sh") },
  ...["help", "version", "wizard"].map((name) => ({ name, value: Option.none() }))
]

const optionsOf = (command: Command): ReadonlyArray<OptionUsage> => optionsIn(Descriptor.getUsage(command))

const optionsIn = (usage: Usage.Usage): ReadonlyArray<OptionUsage> => {
  switch (usage._tag) {
    case "Named":
      return usage.names
        .filter((name) => name.startsWith("--"))
        .map((name) => ({ name: name.slice(2), value: usage.acceptedValues }))
    case "Optional":
    case "Repeated":
      return optionsIn(usage.usage)
    case "Alternation":
    case "Concat":
      return [...optionsIn(usage.left), ...optionsIn(usage.right)]
    default:
      return []
  }
}

const parse = (args: ReadonlyArray<string>, options: ReadonlyArray<OptionUsage>) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      [...everywhere, ...options].map(({ name, value }) => [
        name,
        { type: Option.isSome(value) ? "string" : "boolean", ...(name === "help" ? { short: "h" } : {}) }
      ])
    )
  })

interface GivenOption {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  /** Whether it was given as `--name=value`. */
  readonly inlineValue?: boolean | undefined
}

const mistakeIn = (
  { inlineValue, name, rawName, value }: GivenOption,
  known: ReadonlyArray<OptionUsage>
): Option.Option<string> => {
  const option = known.find((option) => option.name === name)
  if (option === undefined) {
    return Option.some(`There is no option ${rawName}.`)
  }
  return Option.flatMap(option.value, (expected) => {
    if (value === undefined || (inlineValue !== true && value.startsWith("--"))) {
      return Option.some(`The option ${rawName} needs a value: ${rawName} ${expected}.`)
    }
    return Option.map(
      mistakeInValue(expected, value),
      (right) => `The option ${rawName} takes ${right}, and not ${JSON.stringify(value)}.`
    )
  })
}

/** What would be right, where the value is wrong. */
const mistakeInValue = (expected: string, value: string): Option.Option<string> => {
  const choices = expected.split(" | ")
  if (choices.length > 1) {
    return choices.includes(value) ? Option.none() : Option.some(`one of ${choices.join(", ")}`)
  }
  return expected === "integer" && !/^-?\d+$/.test(value) ? Option.some("a whole number") : Option.none()
}
