import { CommanderError } from "commander"
import * as LogLevel from "effect/LogLevel"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { logLevels } from "../../../src/layers/cli/program.ts"
import { given } from "../../support/says.ts"

let said = ""
const say = (text: string | Uint8Array) => {
  said += text
  return true
}

beforeEach(() => {
  said = ""
  vi.spyOn(process.stdout, "write").mockImplementation(say)
  vi.spyOn(process.stderr, "write").mockImplementation(say)
  vi.spyOn(console, "log").mockImplementation(say)
})

afterEach(() => {
  vi.restoreAllMocks()
})

const wordsOf = (line: string) => (line === "" ? [] : line.split(" "))

/** With what status the process would end without running a command. */
const statusOf = async (line: string) => {
  const error = await given(...wordsOf(line)).catch((error: unknown) => error)
  return error instanceof CommanderError ? error.exitCode : undefined
}

describe("the arguments of the process", () => {
  it.each([
    ["stop", "stop", {}, []],
    ["stop --config a --config b", "stop", { config: "b" }, []],
    ["stop --config=--odd", "stop", { config: "--odd" }, []],
    ["start", "start", { logFormat: "text" }, []],
    ["start --log-format=json --detach", "start", { logFormat: "json", detach: true }, []],
    ["--log-level debug stop", "stop", { logLevel: "debug" }, []],
    ["stop --log-level debug", "stop", { logLevel: "debug" }, []],
    ["init", "init", {}, ["."]],
    ["init -- --odd", "init", {}, ["--odd"]],
    ["diff a --json", "diff", { json: true, logFormat: "text" }, ["a", undefined]],
    ["screen identify hall-3/left", "screen", {}, ["identify", "hall-3/left"]]
  ] as const)("%s: run a command with its options and arguments", async (line, name, options, args) => {
    expect(await given(...wordsOf(line))).toEqual({ name, options, args })
  })

  it.each([
    ["strat", "unknown command 'strat'\n(Did you mean start?)\nSee: vitrine --help\n"],
    ["start --detahc", "unknown option '--detahc'\n(Did you mean --detach?)\nSee: vitrine start --help\n"],
    ["start --log-levle debug", "(Did you mean --log-level?)"],
    ["start --detach=yes", "unknown option '--detach=yes'"],
    ["start -d", "unknown option '-d'"],
    ["stop --check", "unknown option '--check'"],
    ["--config a start", "unknown option '--config'"],
    ["start --config", "option '--config <FILE>' argument missing"],
    [
      "start now",
      "too many arguments for 'start'. Expected 0 arguments but got 1.\nSee: vitrine start --help\n"
    ],
    ["start --log-format xml", "argument 'xml' is invalid. Allowed choices are text, json."],
    ["--log-level loud start", "Allowed choices are all, trace, debug, info, warning, error, fatal, none."]
  ])("%s: report a mistake, with the right way", async (line, message) => {
    expect(await statusOf(line)).toBe(1)
    expect(said).toMatch(/^error: /)
    expect(said).toContain(message)
  })

  it.each([
    ["--help", "Usage: vitrine [options] [command]"],
    ["help", "Usage: vitrine [options] [command]"],
    ["diff -h", "Usage: vitrine diff [options] [A] [B]"],
    ["help diff", "Usage: vitrine diff [options] [A] [B]"],
    ["status --version", "1.2.3"]
  ])("%s: print what they request", async (line, text) => {
    expect(await statusOf(line)).toBe(0)
    expect(said).toContain(text)
  })

  it("name the log levels of Effect", () => {
    expect([...logLevels]).toEqual(LogLevel.allLevels.map(({ _tag }) => _tag.toLowerCase()))
  })
})
