import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { decodeOptions } from "../../../../src/internal/Options.ts"
import { MediaOptions, MediaOptionsOfReader } from "../../../../src/layers/documents/media/MediaOptions.ts"

const issues = (input: unknown, schema: typeof MediaOptions | typeof MediaOptionsOfReader = MediaOptions) =>
  Either.match(decodeOptions("the options of media", schema)(input), {
    onLeft: ({ issues }) => issues.map(({ message, path }) => `${path}: ${message}`),
    onRight: () => []
  })

describe("the options of media", () => {
  it("accepts the options of the documentation", () => {
    expect(
      issues({
        find: ["**.image.url", "cover"],
        hosts: ["cdn.museum.example", "127.0.0.1:8080", "[::1]"],
        types: ["image/*", "video/mp4"],
        replace: true,
        optional: ["gallery.*"],
        headers: { Authorization: "Bearer x" },
        maxBytes: 1
      })
    ).toEqual([])
    expect(issues({}, MediaOptionsOfReader)).toEqual([])
  })

  it.each([
    [{}, [': expected at least one of "find", "hosts" and "types": they say which links are meant']],
    [{ find: [] }, ['find: expected an array of paths in documents, such as "**.image.url", got an array']],
    [
      { find: ["a..b"] },
      ['find: expected an array of paths in documents, such as "**.image.url", got an array']
    ],
    [
      { find: ["a"], replace: false },
      ['replace: expected true, or an array of paths in documents, such as "**.image.url", got false']
    ],
    [
      { hosts: ["https://a.example"] },
      ['hosts: expected an array of hosts, such as "cdn.museum.example", got an array']
    ],
    [
      { hosts: ["a.example/x"] },
      ['hosts: expected an array of hosts, such as "cdn.museum.example", got an array']
    ],
    [
      { types: ["jpg"] },
      ['types: expected an array of types in small letters, such as "image/*" or "video/mp4", got an array']
    ],
    [{ find: ["a"], headers: { a: "b" } }, ['headers: they need "hosts": the hosts that they are sent to']],
    [
      { hosts: ["a.example"], headers: { a: "" } },
      [
        "headers.a: expected printable ASCII characters (is the environment variable set? --env-file .env reads a file)"
      ]
    ],
    [
      { hosts: ["a.example"], headers: { Range: "secret" } },
      ['headers.Range: expected the name of a header, such as "authorization"']
    ],
    [{ find: ["a"], maxBytes: 0 }, ["maxBytes: expected a positive integer (bytes), got 0"]],
    [
      { find: ["a"], where: 1 },
      [
        'where: there is no such key; known are: "find", "hosts", "types", "replace", "optional", "headers", "maxBytes"'
      ]
    ]
  ] as const)("reject %j with %j", (input, expected) => {
    expect(issues(input)).toEqual(expected)
  })
})
