import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { decode } from "../../../../src/layers/sources/tables/airtableSource.ts"

const valid = { id: "exhibits", baseId: "app1", apiKey: "pat.secret", tables: ["Objects"] }

const decoded = (input: unknown) => Either.getOrThrowWith(decode(input), (error) => error)

const issues = (input: unknown) =>
  Either.match(decode(input), { onLeft: (error) => error.issues, onRight: () => [] })

const paths = (input: unknown) => issues(input).map(({ path }) => path)

describe("the options of an Airtable source", () => {
  it("has defaults for all but four of them", () => {
    const { apiKey, ...rest } = decoded(valid)
    expect(Redacted.value(apiKey)).toBe("pat.secret")
    expect(rest).toEqual({
      id: "exhibits",
      expect: {},
      fields: {},
      links: {},
      wholeEvery: "1 hour",
      baseId: "app1",
      defaultView: "Grid view",
      tables: ["Objects"],
      keyValueTables: [],
      endpointUrl: "https://api.airtable.com",
      appendLocalAttachmentPaths: true,
      maxAttachmentBytes: 8 * 1024 ** 3,
      maxTimeout: 60_000
    })
  })

  it("accepts a redacted API key, and checks it as any other", () => {
    const { apiKey } = decoded({ ...valid, apiKey: Redacted.make("pat.secret") })
    expect(Redacted.value(apiKey)).toBe("pat.secret")
    for (const key of ["with space", 5]) {
      expect(paths({ ...valid, apiKey: Redacted.make(key) })).toEqual(["apiKey"])
    }
  })

  it("reports a redacted key whose value was wiped", () => {
    const wiped = Redacted.make("pat.secret")
    Redacted.unsafeWipe(wiped)
    expect(paths({ ...valid, apiKey: wiped })).toEqual(["apiKey"])
  })

  it.each([
    ["http://127.0.0.1:9000/", "http://127.0.0.1:9000"],
    ["https://proxy.example/tables//", "https://proxy.example/tables"]
  ])("reads the endpoint %s as %s", (endpointUrl, expected) => {
    expect(decoded({ ...valid, endpointUrl }).endpointUrl).toBe(expected)
  })

  it.each([
    "ftp://example.org",
    "example.org",
    "",
    "https://user:word@example.org",
    "https://key@example.org",
    "https://example.org/?",
    "https://example.org/#",
    "https://example.org/a b",
    7
  ])("refuses the endpoint %j without showing it", (endpointUrl) => {
    expect(issues({ ...valid, endpointUrl })).toEqual([
      { path: "endpointUrl", message: expect.stringMatching(/^expected an http or https URL[^@]*$/) }
    ])
  })

  it.each(["", "with space", "line\n", "schlüssel", "\0", 5, null])(
    "refuses the API key %j without showing it",
    (apiKey) => {
      const result = issues({ ...valid, apiKey })
      expect(result).toHaveLength(1)
      expect(result[0]?.path).toBe("apiKey")
      expect(result[0]?.message).toMatch(/^expected the API key: printable ASCII .* set\? --env-file .*\)$/)
    }
  )

  it("asks for the environment variable if there is no API key", () => {
    const { apiKey, ...rest } = valid
    for (const without of [rest, { ...rest, apiKey: undefined }]) {
      expect(issues(without)).toEqual([
        {
          path: "apiKey",
          message: "is required (is the environment variable set? --env-file .env reads a file)"
        }
      ])
    }
  })

  it.each([".", "..", "", "\ud800"])("refuses %j as the name of a table and as a base", (name) => {
    expect(paths({ ...valid, tables: ["A", name] })).toContain("tables[1]")
    expect(paths({ ...valid, baseId: name })).toEqual(["baseId"])
  })

  it.each(["", "..", "a/b", "nul", "a:b", "trailing."])("refuses %j as an id", (id) => {
    expect(paths({ ...valid, id })).toEqual(["id"])
  })

  it("reads whole tables if the view is null, and refuses an empty name", () => {
    expect(decoded({ ...valid, defaultView: null }).defaultView).toBeNull()
    expect(paths({ ...valid, defaultView: "" })).toEqual(["defaultView"])
  })

  it.each([0, 1.5, 600_001, "60", Number.NaN])("refuses the timeout %j", (maxTimeout) => {
    expect(paths({ ...valid, maxTimeout })).toEqual(["maxTimeout"])
  })

  it("accepts either list of tables, or none", () => {
    const { tables: _, ...none } = valid
    for (const lists of [{}, { tables: [] }, { keyValueTables: ["Settings"] }]) {
      expect(issues({ ...none, ...lists })).toEqual([])
    }
    expect(paths({ ...none, tables: "Objects" })).toEqual(["tables"])
  })

  it("names both tables if two would be saved in one file", () => {
    expect(issues({ ...valid, tables: ["Objects", "Rooms", "Objects"] })).toEqual([
      { path: "tables[2]", message: 'the table "Objects" is already in tables[0]; list it once' }
    ])
    expect(issues({ ...valid, keyValueTables: ["Objects"] })).toEqual([
      { path: "keyValueTables[0]", message: 'the table "Objects" is already in tables[0]; list it once' }
    ])
    expect(issues({ ...valid, keyValueTables: ["objects"] })).toEqual([
      {
        path: "keyValueTables[0]",
        message:
          'the table "objects" would be saved in the same file as "Objects" (tables[0]); rename one of them'
      }
    ])
    expect(paths({ ...valid, tables: ["Caf\u00e9", "Cafe\u0301"] })).toEqual(["tables[1]"])
  })

  it("reports all mistakes at once, without the key", () => {
    const input = {
      id: "a/b",
      apiKey: "pat secret",
      defaultView: 3,
      tables: ["A", "a", ".."],
      keyValueTables: ["A"],
      endpointUrl: "https://u:secret@example.org",
      appendLocalAttachmentPaths: "yes",
      maxTimeout: -1,
      apikey: "pat.secret"
    }
    expect([...paths(input)].sort()).toEqual([
      "apiKey",
      "apikey",
      "appendLocalAttachmentPaths",
      "baseId",
      "defaultView",
      "endpointUrl",
      "id",
      "keyValueTables[0]",
      "maxTimeout",
      "tables[1]",
      "tables[2]"
    ])
    const message = Either.match(decode(input), { onLeft: (error) => error.message, onRight: () => "" })
    expect(message).not.toContain("secret")
    expect(message).toContain("a table source")
  })

  it("names the source that has the mistake", () => {
    const message = Either.match(decode({ ...valid, maxTimeout: 0 }), {
      onLeft: (error) => error.message,
      onRight: () => ""
    })
    expect(message).toContain('the table source "exhibits"')
  })

  it.each([null, undefined, "options", []])("refuses %j as options", (input) => {
    expect(issues(input).length).toBeGreaterThan(0)
  })
})
