/**
 * The helpers for custom buses and transports: a command from text, and the fields of a command.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { decodeCommandFields, parseCommand } from "../../../src/layers/memory/definedCommands.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

const dim = {
  type: "lamp.dim",
  fields: Schema.Struct({ percent: Schema.Int, lamp: Schema.NonEmptyString }),
  run: () => Effect.void
}

describe("a command", () => {
  it.effect("is any JSON object with a type", () =>
    Effect.map(parseCommand(bytes('{"type":"lamp.dim","percent":40}')), (command) =>
      expect(command).toEqual({ type: "lamp.dim", percent: 40 })
    )
  )

  it.effect.each<readonly [what: string, text: string, message: string]>([
    ["text that is no JSON", "{", "The body is not valid JSON."],
    ["an array", "[]", 'The body must be a JSON object with a string "type".'],
    ["an object without a type", "{}", 'The body must be a JSON object with a string "type".'],
    ["a type that is no text", '{"type":1}', 'The body must be a JSON object with a string "type".']
  ])("is not %s", ([, text, message]) =>
    Effect.map(Effect.flip(parseCommand(bytes(text))), (error) =>
      expect(error).toMatchObject({ _tag: "vitrine/MalformedCommand", message })
    )
  )

  it.effect("has its fields decoded, and others left out", () =>
    Effect.map(decodeCommandFields(dim)({ type: "lamp.dim", percent: 40, lamp: "a", more: 1 }), (fields) =>
      expect(fields).toEqual({ percent: 40, lamp: "a" })
    )
  )

  it.effect("is refused with every invalid field in the message", () =>
    Effect.map(Effect.flip(decodeCommandFields(dim)({ type: "lamp.dim", percent: "40" })), (error) => {
      expect(error).toMatchObject({ _tag: "vitrine/InvalidCommandFields", type: "lamp.dim" })
      expect(error.message).toMatch(/^The command "lamp\.dim" was given wrong fields: .*percent.*lamp/)
    })
  )
})
