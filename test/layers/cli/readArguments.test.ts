import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Command from "../../../src/layers/cli/Command.ts"
import { helpText } from "../../../src/layers/cli/Command.ts"
import * as Parameter from "../../../src/layers/cli/Parameter.ts"
import { readArguments } from "../../../src/layers/cli/readArguments.ts"
import * as start from "../../../src/layers/cli/start.ts"
import * as status from "../../../src/layers/cli/status.ts"

const described = (name: string) => ({ name, description: `What ${name} is.` })
/** Each fails with the values that it is run with, so that a test has them. */
const run = Command.make({
  ...described("run"),
  parameters: {
    file: Parameter.text({ ...described("file"), value: "FILE" }),
    format: Parameter.withDefault(
      Parameter.choice({ ...described("format"), choices: ["text", "json"] }),
      "text"
    ),
    logFormat: Parameter.choice({ ...described("log-format"), choices: ["text", "json"] }),
    port: Parameter.integer({ ...described("port"), value: "PORT" }),
    quickly: Parameter.flag(described("quickly")),
    words: Parameter.repeated({ ...described("word"), value: "WORD" }),
    folder: Parameter.argument(described("DIR"))
  },
  run: (values) => Effect.fail(values)
})
const look = Command.make({
  ...described("look"),
  parameters: { often: Parameter.flag(described("often")) },
  run: (values) => Effect.fail(values)
})
const copy = Command.make({
  ...described("copy"),
  parameters: {
    from: Parameter.required(Parameter.argument(described("FROM"))),
    to: Parameter.required(Parameter.argument(described("TO")))
  },
  run: (values) => Effect.fail(values)
})

const read = (line: string) =>
  readArguments<unknown, never>([run, look, copy], line === "" ? [] : line.split(" "))

/** The values that the command would run with. */
const values = (line: string) =>
  Effect.flatMap(read(line), ({ request }) =>
    request._tag === "Run" ? Effect.flip(request.run) : Effect.succeed(request._tag)
  )

describe("the arguments", () => {
  it.effect.each([
    ["", { _tag: "Help", command: Option.none() }],
    ["run -h", { _tag: "Help", command: Option.some(run) }],
    ["run --nonsense --help", { _tag: "Help", command: Option.some(run) }],
    ["help", { _tag: "Help", command: Option.none() }],
    ["help run", { _tag: "Help", command: Option.some(run) }],
    ["look --often --version", { _tag: "Version" }],
    ["--completions fish", { _tag: "Completions", shell: "fish" }]
  ] as const)("%s", ([line, expected]) =>
    Effect.map(read(line), ({ request }) => expect(request).toEqual(expected))
  )

  it.effect("are the values of the command", () =>
    Effect.gen(function* () {
      const none = Option.none()
      const nothing = {
        ...{ file: none, format: "text", logFormat: none, port: none, quickly: false },
        ...{ words: [], folder: none }
      }
      expect(yield* values("run")).toEqual(nothing)
      expect(yield* values("--log-level debug run")).toEqual(nothing)
      expect(
        yield* values("run --file a --file b --format json --port 0 --quickly --word x folder --word=y")
      ).toEqual({
        ...{ file: Option.some("b"), format: "json", logFormat: none, port: Option.some(0), quickly: true },
        ...{ words: ["x", "y"], folder: Option.some("folder") }
      })
      expect(yield* values("run --file=--odd --port=-1 --format=text")).toMatchObject({
        file: Option.some("--odd"),
        port: Option.some(-1)
      })
      expect(yield* values("run -- --nonsense")).toMatchObject({ folder: Option.some("--nonsense") })
      expect(yield* values("copy a b")).toEqual({ from: "a", to: "b" })
    })
  )

  it.effect("say how failures are told", () =>
    Effect.gen(function* () {
      expect(yield* read("run")).toMatchObject({ logLevel: Option.none(), logFormat: Option.none() })
      expect(yield* read("--log-level=debug run --log-format json")).toMatchObject({
        logLevel: Option.some(LogLevel.Debug),
        logFormat: Option.some("json")
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

  it.effect("are better completed to the one name that begins so than changed to another", () =>
    Effect.map(
      Effect.flip(readArguments<unknown, unknown>([start.makeCommand({}), status.command], ["stat"])),
      ({ message }) => expect(message).toContain("Did you mean status?")
    )
  )

  it.effect.each([
    ["stop", 'There is no command "stop"; there are copy, look, run. See: vitrine --help'],
    [
      "cpoy a",
      'There is no command "cpoy"; there are copy, look, run. Did you mean copy? See: vitrine --help'
    ],
    [
      "help lok",
      'There is no command "lok"; there are copy, look, run. Did you mean look? See: vitrine --help'
    ],
    ["co", 'There is no command "co"; there are copy, look, run. Did you mean copy? See: vitrine --help'],
    ["run --speed 2", "There is no option --speed. See: vitrine run --help"],
    ["run --qu", "There is no option --qu. Did you mean --quickly? See: vitrine run --help"],
    ["run --quick", "There is no option --quick. Did you mean --quickly? See: vitrine run --help"],
    [
      "look --log-levle debug",
      "There is no option --log-levle. Did you mean --log-level? See: vitrine look --help"
    ],
    ["run --quickly=yes", "The option --quickly takes no value. See: vitrine run --help"],
    ["look now", 'Unexpected argument "now": vitrine look takes no arguments. See: vitrine look --help'],
    ["run a b", 'Unexpected argument "b": vitrine run takes DIR. See: vitrine run --help'],
    ["copy", "The argument FROM is missing: vitrine copy FROM TO. See: vitrine copy --help"],
    ["copy a", "The argument TO is missing: vitrine copy FROM TO. See: vitrine copy --help"],
    ["--file a run", "The option --file belongs behind the command. See: vitrine run --help"],
    ["run -q", "There is no option -q. See: vitrine run --help"],
    ["look --file a", "There is no option --file. See: vitrine look --help"],
    ["run --file", "The option --file needs a value: --file FILE. See: vitrine run --help"],
    ["run --file --quickly", "The option --file needs a value: --file FILE. See: vitrine run --help"],
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

it("help has the whole line that calls a command, and each option with what it is", () => {
  expect(helpText(run)).toBe(`USAGE

  vitrine run [--file FILE] [--format text | json] [--log-format text | json] [--port PORT] [--quickly] [--word WORD]... [DIR]

DESCRIPTION

  What run is.

ARGUMENTS

  DIR
      What DIR is.

OPTIONS

  --file FILE
      What file is.
  --format text | json
      What format is.
  --log-format text | json
      What log-format is.
  --port PORT
      What port is.
  --quickly
      What quickly is.
  --word WORD
      What word is.`)
})
