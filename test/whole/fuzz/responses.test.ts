import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { parse } from "./responses.ts"

const answer = (status: string, body: string, headers = "Access-Control-Allow-Origin: *\r\n") =>
  `HTTP/1.1 ${status}\r\n${headers}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

const result = answer("200 OK", '{"result":null}')

const stream = (text: string) =>
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store, no-transform\r\n" +
  `X-Accel-Buffering: no\r\nAccess-Control-Allow-Origin: *\r\n\r\n${text}`

const read = (text: string, mayLackBody = false) => parse(Buffer.from(text), { mayLackBody })

const statuses = (text: string, mayLackBody = false) =>
  Either.getOrThrow(read(text, mayLackBody)).responses.map(({ status }) => status)

const rest = (text: string) => Either.getOrThrow(read(text)).rest.toString()

describe("the parser of responses", () => {
  it("reads one response after the other", () => {
    const notFound = answer("404 Not Found", '{"error":{"message":"no"}}')
    expect(statuses(`HTTP/1.1 100 Continue\r\n\r\n${result}${notFound}`)).toEqual([200, 404])
    expect(statuses(stream("retry: 2000\n\n: ping\n\nevent: a\ndata: {}\n\n"))).toEqual([200])
    expect(statuses(`${notFound.slice(0, -26)}${result}`, true)).toEqual([404, 200])
  })

  it("waits for an incomplete response", () => {
    for (let length = 1; length < result.length; length++) {
      expect(rest(result.slice(0, length))).toBe(result.slice(0, length))
    }
    expect(rest(result + result.slice(0, 20))).toBe(result.slice(0, 20))
    expect(rest(stream("retry: 2000\n"))).toBe("retry: 2000\n")
    expect(rest(stream("retry: 2000\n\nevent: a\nda"))).toBe("event: a\nda")
  })

  it.each([
    ["no HTTP", `x${result}`],
    ["something between", `${result}\r\n${result}`],
    ["another reason", answer("200 Fine", '{"result":1}')],
    ["an unknown status", answer("405 Method Not Allowed", '{"error":{"message":"no"}}')],
    ["no origin allowed", answer("200 OK", '{"result":1}', "")],
    [
      "a header twice",
      answer("200 OK", '{"result":1}', "A: b\r\na: b\r\nAccess-Control-Allow-Origin: *\r\n")
    ],
    ["a body that is no JSON", answer("200 OK", "{result:1}")],
    ["a key too many", answer("200 OK", '{"result":1,"error":{}}')],
    ["a 500 without a name", answer("500 Internal Server Error", '{"error":{"message":"no"}}')],
    ["no body", answer("200 OK", "")],
    ["a stream without its beginning", stream("event: a\ndata: {}\n\n")],
    ["a frame without data", stream("retry: 2000\n\nevent: a\n\n")],
    ["an answer in a stream", stream(`retry: 2000\n\n${result}\n\n`)]
  ])("rejects %s", (_, text) => {
    expect(Either.isLeft(read(text))).toBe(true)
  })
})
