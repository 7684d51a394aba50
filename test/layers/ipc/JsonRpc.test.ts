import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as JsonRpc from "../../../src/layers/ipc/JsonRpc.ts"

const { errorCode } = JsonRpc
const bytes = (text: string) => Buffer.from(text)
const id = FastCheck.oneof(FastCheck.string(), FastCheck.integer(), FastCheck.constant(null))

/** Each message is one line. */
const parsed = (message: string) => {
  expect(message.indexOf("\n")).toBe(message.length - 1)
  return Either.getOrThrow(JsonRpc.parseServerMessage(bytes(message.slice(0, -1))))
}

describe("JSON-RPC messages", () => {
  it("of the server come out as they went in", () => {
    FastCheck.assert(
      FastCheck.property(
        id,
        FastCheck.jsonValue(),
        FastCheck.string({ unit: "binary" }),
        FastCheck.integer(),
        (id, value, text, code) => {
          // JSON has one zero.
          const json: unknown = JSON.parse(JSON.stringify(value))
          const wire: unknown = JSON.parse(JSON.stringify(text))
          expect(parsed(JsonRpc.result(id, value))).toEqual({ jsonrpc: "2.0", id, result: json })
          expect(parsed(JsonRpc.event(text, value))).toEqual({
            jsonrpc: "2.0",
            method: "event",
            params: { name: wire, payload: json }
          })
          const error = new JsonRpc.RpcError({ code, message: text, data: value })
          expect(parsed(JsonRpc.error(id, error))).toEqual({
            jsonrpc: "2.0",
            id,
            error: { code, message: wire, data: json }
          })
        }
      ),
      { numRuns: 50 }
    )
  })

  it("of the client come out as they went in", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.nat(),
        FastCheck.string(),
        FastCheck.option(FastCheck.dictionary(FastCheck.string(), FastCheck.jsonValue()), { nil: undefined }),
        (id, method, params) => {
          const line = JsonRpc.request(id, method, params)
          expect(line.indexOf("\n")).toBe(line.length - 1)
          const expected: unknown = JSON.parse(JSON.stringify({ jsonrpc: "2.0", id, method, params }))
          expect(Either.getOrThrow(JsonRpc.parseRequest(bytes(line)))).toEqual(expected)
        }
      )
    )
  })

  it("have a result, whatever it was", () => {
    expect(JsonRpc.result(1, undefined)).toBe('{"jsonrpc":"2.0","id":1,"result":null}\n')
    expect(JsonRpc.result("a", () => 1)).toBe('{"jsonrpc":"2.0","id":"a","result":null}\n')
    expect(JsonRpc.event("e", 1n)).toBe(
      '{"jsonrpc":"2.0","method":"event","params":{"name":"e","payload":"[BigInt 1]"}}\n'
    )
  })

  it.each([
    ["no JSON", "{", errorCode.parseError, null],
    ["a byte order mark", "\ufeff{}", errorCode.parseError, null],
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"status"}]', errorCode.invalidRequest, null],
    ["no object", "1", errorCode.invalidRequest, null],
    ["no version", '{"id":7,"method":"status"}', errorCode.invalidRequest, 7],
    ["another version", '{"jsonrpc":"1.0","id":"x","method":"status"}', errorCode.invalidRequest, "x"],
    ["no method", '{"jsonrpc":"2.0","id":1}', errorCode.invalidRequest, 1],
    ["a method that is no string", '{"jsonrpc":"2.0","id":1,"method":1}', errorCode.invalidRequest, 1],
    ["an id that is none", '{"jsonrpc":"2.0","id":{},"method":"status"}', errorCode.invalidRequest, null]
  ])("that are %s are refused", (_, line, code, id) => {
    expect(Either.flip(JsonRpc.parseRequest(bytes(line)))).toMatchObject({ right: { id, error: { code } } })
  })

  it("that are no UTF-8 are refused", () => {
    const line = Buffer.concat([bytes('{"jsonrpc":"2.0","id":1,"method":"'), Buffer.of(0xff), bytes('"}')])
    expect(Either.flip(JsonRpc.parseRequest(line))).toMatchObject({
      right: { error: { code: errorCode.parseError } }
    })
  })

  it.each([
    "{}",
    '{"jsonrpc":"2.0","id":1}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":1}}',
    '{"method":{"toString":0}}',
    '{"jsonrpc":"2.0","method":"event","params":{"name":"a"}}',
    '{"jsonrpc":"2.0","method":"other","params":{}}'
  ])("of the server that are none are noticed: %s", (line) => {
    expect(Either.isLeft(JsonRpc.parseServerMessage(bytes(line)))).toBe(true)
  })

  it("never throw, whatever comes", () => {
    const anything = FastCheck.oneof(
      FastCheck.uint8Array(),
      FastCheck.json().map((json) => bytes(json)),
      FastCheck.record(
        { jsonrpc: FastCheck.constant("2.0"), id: FastCheck.jsonValue(), method: FastCheck.jsonValue() },
        { requiredKeys: [] }
      ).map((value) => bytes(JSON.stringify(value)))
    )
    FastCheck.assert(
      FastCheck.property(anything, (line) => {
        JsonRpc.parseServerMessage(line)
        const request = JsonRpc.parseRequest(line)
        expect(Either.isLeft(request) || typeof request.right.method === "string").toBe(true)
      }),
      { numRuns: 500 }
    )
  })
})
