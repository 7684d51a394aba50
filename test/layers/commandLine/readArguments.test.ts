import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Descriptor from "@effect/cli/CommandDescriptor"
import * as Options from "@effect/cli/Options"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HashSet from "effect/HashSet"
import * as Option from "effect/Option"
import { readArguments } from "../../../src/layers/commandLine/readArguments.ts"

const run = Command.make("run", {
  file: Options.optional(Options.file("file")),
  format: Options.withDefault(Options.choice("format", ["text", "json"]), "text"),
  logFormat: Options.withDefault(Options.choice("log-format", ["text", "json"]), "text"),
  port: Options.optional(Options.integer("port")),
  quickly: Options.boolean("quickly"),
  words: Options.withDefault(Options.repeated(Options.text("word")), []),
  folder: Args.optional(Args.directory())
})
const look = Command.make("look", { often: Options.boolean("often") })
const program = Command.withSubcommands(Command.make("program"), [run, look]).descriptor

const read = (line: string) => readArguments(program, line === "" ? [] : line.split(" "))

const asked = (line: string) =>
  Effect.map(read(line), ({ command, ...rest }) => ({
    command: Option.getOrNull(
      Option.map(command, (command) => [...HashSet.toValues(Descriptor.getNames(command))][0])
    ),
    ...rest
  }))

describe("the arguments", () => {
  it.effect.each([
    ["", { command: null, isHelpWanted: false }],
    ["run", { command: "run", isHelpWanted: false }],
    ["--log-level debug run", { command: "run", isHelpWanted: false }],
    ["--log-level=debug run", { command: "run", isHelpWanted: false }],
    ["run -h", { command: "run", isHelpWanted: true }],
    ["run --nonsense --help", { command: "run", isHelpWanted: true }],
    ["help", { command: null, isHelpWanted: true }],
    ["help run", { command: "run", isHelpWanted: true }],
    ["--completions fish", { command: null, isHelpWanted: false, completions: "fish" }]
  ] as const)("%s", ([line, expected]) =>
    Effect.map(asked(line), (actual) => expect(actual).toMatchObject({ completions: undefined, ...expected }))
  )

  it.effect("say how failures are told", () =>
    Effect.gen(function* () {
      expect(yield* read("run")).toMatchObject({ isDebugging: false, logFormat: undefined })
      expect(yield* read("--log-level debug run --log-format json")).toMatchObject({
        isDebugging: true,
        logFormat: "json"
      })
    })
  )

  it.effect.each([
    "run --file a --format json --port 0 --quickly --word x --word y --log-level none folder",
    "run --file=--odd --port=-1 --format=text",
    "run --file -",
    "run -- --nonsense",
    "look --often --version"
  ])("%s: no mistake", (line) => read(line))

  it.effect.each([
    ["rnu --file a", 'There is no command "rnu"; there are look, run. See: vitrine --help'],
    ["help rnu", 'There is no command "rnu"; there are look, run. See: vitrine --help'],
    ["run --quick", "There is no option --quick. See: vitrine run --help"],
    ["--file a run", "The option --file belongs behind the command. See: vitrine run --help"],
    ["run -q", "There is no option -q. See: vitrine run --help"],
    ["look --file a", "There is no option --file. See: vitrine look --help"],
    ["run --file", "The option --file needs a value: --file file. See: vitrine run --help"],
    ["run --file --quickly", "The option --file needs a value: --file file. See: vitrine run --help"],
    [
      "run --format xml",
      'The option --format takes one of text, json, and not "xml". See: vitrine run --help'
    ],
    [
      "run --port eighty",
      'The option --port takes a whole number, and not "eighty". See: vitrine run --help'
    ],
    [
      "--log-level loud run",
      'The option --log-level takes one of all, trace, debug, info, warning, error, fatal, none, and not "loud". See: vitrine run --help'
    ],
    [
      "--completions cmd",
      'The option --completions takes one of bash, zsh, fish, sh, and not "cmd". See: vitrine --help'
    ]
  ] as const)("%s: a mistake", ([line, message]) =>
    Effect.map(Effect.flip(read(line)), (error) => expect(error.message).toBe(message))
  )
})
