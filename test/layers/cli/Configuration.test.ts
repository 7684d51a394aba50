/**
 * Environment files in the encodings in which people have them.
 */
import { unlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { loadEnvironment } from "../../../src/layers/cli/Configuration.ts"

const prefix = "VITRINE_TEST_"
const file = join(tmpdir(), `vitrine-${process.pid}-${crypto.randomUUID()}.env`)

const forget = () => {
  for (const name of Object.keys(process.env)) {
    if (name.includes(prefix)) {
      delete process.env[name]
    }
  }
}

afterEach(() => {
  forget()
  unlinkSync(file)
})

const utf16be = (text: string) => Buffer.from(text, "utf16le").swap16()

const encodings: Readonly<Record<string, (text: string) => Buffer>> = {
  "UTF-8": (text) => Buffer.from(text),
  "UTF-8 with a mark": (text) => Buffer.from(`\ufeff${text}`),
  "UTF-16 LE": (text) => Buffer.from(`\ufeff${text}`, "utf16le"),
  "UTF-16 BE": (text) => utf16be(`\ufeff${text}`)
}

/** The variables that are set after the file was loaded. */
const loaded = (content: Buffer) => {
  writeFileSync(file, content)
  Effect.runSync(loadEnvironment(file))
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => name.includes(prefix)))
}

const variables = FastCheck.dictionary(
  FastCheck.stringMatching(/^[A-Z][A-Z0-9_]{0,9}$/).map((name) => prefix + name),
  // In single quotes, where nothing but a quote ends it.
  FastCheck.string({ unit: "binary" }).map((value) => value.replace(/['\0\r]/g, "")),
  { minKeys: 1, maxKeys: 5 }
)

describe("an environment file", () => {
  for (const [name, encode] of Object.entries(encodings)) {
    it(`has the same variables in ${name}`, () => {
      FastCheck.assert(
        FastCheck.property(variables, FastCheck.constantFrom("\n", "\r\n"), (variables, lineBreak) => {
          forget()
          const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'${lineBreak}`)
          expect(loaded(encode(lines.join("")))).toEqual({ ...variables })
        })
      )
    })
  }

  it("does not replace variables of the environment, even empty ones", () => {
    process.env[`${prefix}KEPT`] = "before"
    process.env[`${prefix}EMPTY`] = ""
    expect(loaded(Buffer.from(`${prefix}KEPT=after\n${prefix}EMPTY=after\n${prefix}NEW=after\n`))).toEqual({
      [`${prefix}KEPT`]: "before",
      [`${prefix}EMPTY`]: "",
      [`${prefix}NEW`]: "after"
    })
  })

  it.skipIf(process.platform === "win32")("has an end, even if it is a device that has none", () => {
    writeFileSync(file, "")
    expect(Effect.runSync(Effect.flip(loadEnvironment("/dev/zero"))).message).toBe(
      "The environment file /dev/zero could not be read: It is larger than 1 MiB."
    )
  })

  it("is named if it is missing", () => {
    writeFileSync(file, "")
    const failure = Effect.runSync(Effect.flip(loadEnvironment(`${file}.missing`)))
    expect(failure).toMatchObject({
      _tag: "vitrine/CliError",
      message: expect.stringContaining(`The environment file ${file}.missing could not be read: ENOENT`)
    })
  })
})
