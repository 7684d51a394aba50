import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import {
  causeWithoutSecrets,
  ErrorChain,
  messageOf,
  OptionalErrorChain,
  type SerializedError,
  serializeError
} from "../../src/internal/SerializedError.ts"
import { CommandFailed } from "../../src/services/CommandBus.ts"
import { SourceError } from "../../src/services/SourceError.ts"

it("a cause is left out if a message in its chain has a secret", () => {
  const hide = (text: string) => text.replaceAll("s3cret", "…")
  const inner = new Error("GET https://example.org/?key=s3cret")
  const withSecret = new Error("the download failed", { cause: inner })
  const harmless = new Error("the download failed", { cause: new Error("no space left") })
  expect(causeWithoutSecrets(withSecret, hide)).toBeUndefined()
  expect(causeWithoutSecrets(inner, hide)).toBeUndefined()
  expect(causeWithoutSecrets(harmless, hide)).toBe(harmless)
  expect(causeWithoutSecrets(undefined, hide)).toBeUndefined()
})

class DiskFull extends Schema.TaggedError<DiskFull>()("DiskFull", { path: Schema.String }) {
  override get message() {
    return `No space left on ${this.path}.`
  }
}

const depth = ({ cause }: SerializedError): number => (cause === undefined ? 1 : 1 + depth(cause))

describe("serializeError", () => {
  it.each([
    [new Error("plain"), { name: "Error", message: "plain" }],
    [new TypeError("typed"), { name: "TypeError", message: "typed" }],
    [new DiskFull({ path: "/data" }), { name: "DiskFull", message: "No space left on /data." }],
    [
      { _tag: "Tagged", message: "tagged" },
      { name: "Tagged", message: "tagged" }
    ],
    [Object.assign(new Error("x"), { name: "" }), { name: "Error", message: "x" }],
    ["text", { name: "Error", message: "text" }],
    [7, { name: "Error", message: "7" }],
    [undefined, { name: "Error", message: "undefined" }],
    [null, { name: "Error", message: "null" }],
    [
      { name: 1, message: 2 },
      { name: "Error", message: "[object Object]" }
    ]
  ])("describes %o", (error, description) => {
    expect(serializeError(error)).toEqual(description)
  })

  it("includes causes of any type", () => {
    const error = new Error("outer", { cause: new DiskFull({ path: "/" }) })
    expect(serializeError(error)).toEqual({
      name: "Error",
      message: "outer",
      cause: { name: "DiskFull", message: "No space left on /." }
    })
    expect(serializeError(new Error("outer", { cause: "inner" }))).toEqual({
      name: "Error",
      message: "outer",
      cause: { name: "Error", message: "inner" }
    })
    expect(serializeError(new Error("outer", { cause: null }))).toEqual({ name: "Error", message: "outer" })
  })

  it("shortens a circular chain", () => {
    const own = new Error("own")
    own.cause = own
    expect(serializeError(own)).toEqual({ name: "Error", message: "own" })
    const inner = new Error("inner")
    inner.cause = new Error("middle", { cause: inner })
    expect(depth(serializeError(new Error("outer", { cause: inner })))).toBe(3)
  })

  it.prop("shortens a chain after sixteen causes", [FastCheck.integer({ min: 1, max: 40 })], ([length]) => {
    let error = new Error("last")
    for (let level = 1; level < length; level++) {
      error = new Error("level", { cause: error })
    }
    expect(depth(serializeError(error))).toBe(Math.min(length, 16))
  })

  it("never throws", () => {
    const refuse = (): never => {
      throw new Error("no")
    }
    const hostile = Object.defineProperties(new Error(), {
      name: { get: refuse },
      message: { get: refuse },
      cause: { get: refuse },
      toString: { value: refuse }
    })
    expect(serializeError(hostile)).toEqual({ name: "Error", message: "unknown error" })
    expect(serializeError(Object.create(null))).toEqual({ name: "Error", message: "unknown error" })
    expect(serializeError(new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse }))).toEqual({
      name: "Error",
      message: "unknown error"
    })
    expect(serializeError(Symbol("s"))).toEqual({ name: "Error", message: "Symbol(s)" })
  })

  it.prop("has a name and a message for any value", [FastCheck.anything()], ([value]) => {
    expect(serializeError(value)).toMatchObject({
      name: expect.any(String),
      message: expect.any(String)
    })
  })

  it.each([
    [
      "Cannot write to /srv/exhibit/downloads/.staging: the disk is full.",
      "Cannot write to …/.staging: the disk is full."
    ],
    [
      "ENOENT: no such file, open '/home/kiosk/My Exhibit/a b.json'",
      "ENOENT: no such file, open '…/a b.json'"
    ],
    ["Cannot read /home/kiosk/My Exhibit/manifest.json: gone", "Cannot read …/manifest.json: gone"],
    ["rename /srv/a/b -> /srv/c/d", "rename …/b -> …/d"],
    ["/srv/a/ (a folder)", "…/ (a folder)"],
    ["Cannot open C:\\Users\\Ann Lee\\x.json.", "Cannot open …/x.json."],
    ["c:/exhibit/x.json", "…/x.json"],
    ["open 'C:\\Users\\O'Brien\\exhibit\\x.json'", "open '…/x.json'"],
    ["open '/home/o'brien/exhibit/it's.json'", "open '…/it's.json'"],
    ["open '\\\\?\\C:\\Users\\ann\\x.json'", "open '…/x.json'"],
    ["rename '/srv/a/b' -> '/srv/c/d'", "rename '…/b' -> '…/d'"],
    ["\\\\server\\share\\x.json", "…/x.json"],
    ["import file:///srv/exhibit/vitrine.config.ts:3:1", "import …/vitrine.config.ts:3:1"],
    ["at load (/srv/exhibit/x.js:3:1)", "at load (…/x.js:3:1)"]
  ])("removes the folders from %j", (message, expected) => {
    expect(serializeError(new Error("outer", { cause: new Error(message) }))).toEqual({
      name: "Error",
      message: "outer",
      cause: { name: "Error", message: expected }
    })
    expect(messageOf(new Error(message))).toBe(message)
  })

  it.each([
    "https://api.airtable.com/v0/app1/Objects answered 404",
    "Open http://127.0.0.1:8720/a/b/c",
    "versions/20261121T093000Z/exhibits",
    "either/or, 3/4/5, and /status",
    "a relative ./a/b and ../a/b",
    "text/html; charset=utf-8"
  ])("does not change %j", (message) => {
    expect(serializeError(new Error(message)).message).toBe(message)
  })

  it("is fast for a long message", () => {
    for (const message of [
      " /".repeat(100_000),
      "/a".repeat(100_000),
      `/${"a ".repeat(100_000)}`,
      "/a ".repeat(100_000)
    ]) {
      expect(serializeError(new Error(message)).message.length).toBeLessThanOrEqual(message.length)
    }
  })
})

describe("ErrorChain", () => {
  const encode = Schema.encodeSync(ErrorChain)

  /** Through JSON, as over a wire. */
  const sent = (error: unknown) =>
    Schema.decodeUnknownSync(Schema.parseJson(ErrorChain))(
      Schema.encodeSync(Schema.parseJson(ErrorChain))(error)
    )

  const thrown = FastCheck.letrec<{ error: unknown }>((tie) => ({
    error: FastCheck.oneof(
      { depthSize: "medium", withCrossShrink: true },
      FastCheck.anything(),
      FastCheck.record({
        name: FastCheck.oneof(
          FastCheck.constantFrom("TypeError", "vitrine/CommandFailed", ""),
          FastCheck.string()
        ),
        message: FastCheck.oneof(
          FastCheck.constantFrom("open '/srv/exhibit/a.json'", ""),
          FastCheck.string()
        ),
        cause: tie("error")
      }).map(({ cause, message, name }) => Object.assign(new Error(message, { cause }), { name })),
      tie("error").map((cause) => new CommandFailed({ type: "work", cause })),
      FastCheck.record({ _tag: FastCheck.string(), message: FastCheck.string(), cause: tie("error") })
    )
  })).error

  it.prop("decodes to an error that serializes as the original", [thrown], ([error]) => {
    const received = sent(error)
    expect(serializeError(received)).toEqual(serializeError(error))
    expect(messageOf(received)).toBe(messageOf(error))
    expect(encode(received)).toEqual(encode(error))
  })

  const serialized: FastCheck.Arbitrary<SerializedError> = FastCheck.array(
    FastCheck.record({ name: FastCheck.string({ minLength: 1 }), message: FastCheck.string() }),
    { minLength: 1, maxLength: 16 }
  ).map(([last, ...outer]) =>
    outer.reduce<SerializedError>((cause, one) => ({ ...one, cause }), last ?? { name: "Error", message: "" })
  )

  it.prop("encodes a decoded error to the same value", [serialized], ([described]) => {
    expect(encode(Schema.decodeSync(ErrorChain)(described))).toEqual(described)
  })

  it("decodes to errors, each with its own cause", () => {
    const received = sent(new DiskFull({ path: "/data" }))
    expect(received).toBeInstanceOf(Error)
    expect(received).toMatchObject({ name: "DiskFull", message: "No space left on /data." })
    expect(received).not.toHaveProperty("cause")
    const chain = sent(new Error("outer", { cause: new TypeError("middle", { cause: "inner" }) }))
    expect(chain).toMatchObject({
      cause: { name: "TypeError", message: "middle", cause: { name: "Error", message: "inner" } }
    })
    expect(chain).toHaveProperty("cause.cause", expect.any(Error))
    expect(chain).toHaveProperty("stack", "Error: outer")
  })

  it("keeps complete names and paths, which serializeError shortens", () => {
    const received = sent(new CommandFailed({ type: "work", cause: new Error("open '/srv/exhibit/a.json'") }))
    expect(received).toMatchObject({
      name: "vitrine/CommandFailed",
      message: "The command \"work\" failed: open '/srv/exhibit/a.json'",
      cause: { message: "open '/srv/exhibit/a.json'" }
    })
    expect(serializeError(received)).toMatchObject({
      name: "CommandFailed",
      cause: { message: "open '…/a.json'" }
    })
  })

  it("shortens a circular chain, and a chain of more than sixteen causes", () => {
    const own = new Error("own")
    own.cause = own
    expect(encode(own)).toEqual({ name: "Error", message: "own" })
    let long = new Error("last")
    for (let level = 1; level < 1000; level++) {
      long = new Error("level", { cause: long })
    }
    expect(depth(encode(long))).toBe(16)
  })

  it("rejects other values", () => {
    expect(() => Schema.decodeUnknownSync(ErrorChain)({ message: 1 })).toThrow("name")
  })

  it("carries the causes of errors with fields", () => {
    const through = <A, I>(schema: Schema.Schema<A, I>, error: A) => {
      const json = Schema.parseJson(schema)
      return Schema.decodeSync(json)(Schema.encodeSync(json)(error))
    }
    const source = new SourceError({ source: "exhibits", cause: new DiskFull({ path: "/data" }) })
    const received = through(CommandFailed, new CommandFailed({ type: "content.fetch", cause: source }))
    expect(received).toBeInstanceOf(CommandFailed)
    expect(received.message).toBe(
      'The command "content.fetch" failed: Source "exhibits": No space left on /data.'
    )
    expect(serializeError(received)).toMatchObject({
      name: "CommandFailed",
      cause: {
        name: "SourceError",
        cause: { name: "DiskFull", message: "No space left on /data." }
      }
    })
  })

  class Late extends Schema.TaggedError<Late>()("Late", { cause: OptionalErrorChain }) {}

  it.each([
    [new Late({}), undefined],
    [new Late({ cause: undefined }), undefined],
    [new Late({ cause: null }), { name: "Error", message: "null" }],
    [new Late({ cause: "fog" }), { name: "Error", message: "fog" }]
  ])("may be missing, and undefined is not an error: %o", (error, cause) => {
    expect(Schema.encodeSync(Late)(error)).toHaveProperty("_tag", "Late")
    expect(Schema.encodeSync(Late)(error).cause).toEqual(cause)
  })
})
