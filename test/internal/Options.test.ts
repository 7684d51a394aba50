import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import {
  decodeOptions,
  expects,
  expectsSecret,
  InvalidOptions,
  issuesOf,
  omittable,
  optional
} from "../../src/internal/Options.ts"

const Source = Schema.Struct({
  id: expects(Schema.NonEmptyString, "the name of a source"),
  key: expectsSecret(Schema.String.pipe(Schema.pattern(/^[a-z]+$/)), "a key of small letters")
})

const decode = decodeOptions(
  "the options of the exhibit",
  Schema.Struct({
    name: expects(Schema.NonEmptyString, "a name"),
    port: optional(expects(Schema.Int.pipe(Schema.between(0, 9)), "an integer from 0 to 9"), 7),
    sources: optional(expects(Schema.Array(Source), "an array of sources"), [])
  })
)

const issues = (input: unknown) => issuesOf(decode(input))

/** An option for each document, as sources have. */
const decodeDocuments = decodeOptions(
  "the options of the exhibit",
  Schema.Struct({
    documents: Schema.Record({
      key: Schema.String,
      value: expects(
        Schema.Struct({
          sort: omittable(expects(Schema.NonEmptyString, "a name")),
          view: optional(expects(Schema.NullOr(Schema.NonEmptyString), "a view, or null"), "all")
        }),
        'an object with "sort" or "view"'
      )
    })
  })
)

describe("decodeOptions", () => {
  it("adds defaults for absent and undefined members", () => {
    const expected = { name: "a", port: 7, sources: [] }
    expect(decode({ name: "a" })).toEqual(Either.right(expected))
    expect(decode({ name: "a", port: undefined, sources: undefined, colour: undefined })).toEqual(
      Either.right(expected)
    )
    expect(issues({ name: undefined })).toEqual([{ path: "name", message: "is required" }])
  })

  it("treats undefined as absent, at any depth", () => {
    const documents = (document: unknown) =>
      Either.map(decodeDocuments({ documents: { a: document } }), ({ documents }) => documents.a)
    expect(documents({ sort: undefined, view: undefined })).toStrictEqual(Either.right({ view: "all" }))
    expect(documents({ sort: "x", view: null })).toStrictEqual(Either.right({ sort: "x", view: null }))
    expect(issuesOf(documents({ sort: 1, view: undefined }))).toEqual([
      { path: "documents.a.sort", message: "expected a name, got 1" }
    ])
    expect(issuesOf(documents(undefined))).toEqual([
      { path: "documents.a", message: 'expected an object with "sort" or "view", got undefined' }
    ])
  })

  it("reports every mistake at once, with its path and what would be right", () => {
    const input = {
      name: "",
      port: 10,
      sources: [{ id: "a", key: "secret" }, { id: 3, key: "abc", extra: 1 }, { key: "abc" }, null],
      prot: 1
    }
    expect(issues(input)).toHaveLength(7)
    expect(issues(input)).toEqual(
      expect.arrayContaining([
        { path: "name", message: 'expected a name, got ""' },
        { path: "port", message: "expected an integer from 0 to 9, got 10" },
        { path: "sources[1].id", message: "expected the name of a source, got 3" },
        { path: "sources[1].extra", message: expect.stringContaining("there is no such key; known are: ") },
        { path: "sources[2].id", message: "is required" },
        { path: "prot", message: expect.stringContaining('"port"') }
      ])
    )
    expect(issues(input).map(({ path }) => path)).toContain("sources[3]")
  })

  it("names the place of a mistake also in an object with defaults", () => {
    const decodeExhibit = decodeOptions(
      "the options of the exhibit",
      Schema.Struct({
        lamp: expects(
          Schema.Struct({
            id: expects(Schema.NonEmptyString, "the name of a lamp"),
            watts: optional(expects(Schema.Int, "an integer"), 7)
          }),
          'an object, such as { id: "left" }'
        )
      })
    )
    const issues = (lamp: unknown) => issuesOf(decodeExhibit({ lamp }))
    expect(issues({ id: 3, watts: "5" })).toEqual([
      { path: "lamp.id", message: "expected the name of a lamp, got 3" },
      { path: "lamp.watts", message: 'expected an integer, got "5"' }
    ])
    expect(issues({})).toEqual([{ path: "lamp.id", message: "is required" }])
    expect(issues("left")).toEqual([
      { path: "lamp", message: 'expected an object, such as { id: "left" }, got "left"' }
    ])
  })

  it.each([
    [null, "null"],
    [undefined, "undefined"],
    ["options", '"options"'],
    [[], "an array"],
    [() => {}, "a function"],
    [7, "7"]
  ])("refuses %j as options", (input, shown) => {
    expect(issues(input)).toEqual([{ path: "", message: `expected an object, got ${shown}` }])
  })

  it("shows the beginning of an invalid value", () => {
    expect(issues({ name: "a", port: "5" })[0]?.message).toMatch(/got "5"$/)
    expect(issues({ name: "a", port: {} })[0]?.message).toMatch(/got an object$/)
    expect(issues({ name: "a", port: [] })[0]?.message).toMatch(/got an array$/)
    expect(issues({ name: "a", port: Number.NaN })[0]?.message).toMatch(/got NaN$/)
    expect(issues({ name: "a", port: "x".repeat(1000) })[0]?.message.length).toBeLessThan(130)
  })

  const secret = "S3CRET"

  it.prop(
    "never shows a secret",
    [
      FastCheck.constantFrom<unknown>(
        secret,
        [secret],
        { key: secret },
        { toString: () => secret },
        () => secret
      )
    ],
    ([key]) => {
      const error = Either.getOrThrow(Either.flip(decode({ name: "a", sources: [{ id: "a", key }] })))
      expect(error.issues).toEqual([{ path: "sources[0].key", message: "expected a key of small letters" }])
      expect(JSON.stringify(error) + String(error)).not.toContain(secret)
    }
  )
})

describe("InvalidOptions", () => {
  it("has a message with a line for each mistake", () => {
    const one = { path: "port", message: "is required" }
    const whole = { path: "", message: "expected an object, got 7" }
    expect(new InvalidOptions({ subject: "the options of the exhibit", issues: [one] }).message).toBe(
      "There is an invalid value in the options of the exhibit:\n  port: is required"
    )
    expect(new InvalidOptions({ subject: "the options of the exhibit", issues: [one, whole] }).message).toBe(
      "There are 2 invalid values in the options of the exhibit:\n  port: is required\n  options: expected an object, got 7"
    )
  })
})
