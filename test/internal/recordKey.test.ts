import { describe, expect, it } from "@effect/vitest"
import * as Option from "effect/Option"
import { defaultKey, recordId } from "../../src/internal/recordKey.ts"

describe("the key of a record", () => {
  it.each([
    { key: defaultKey, record: { id: "a" }, id: "a" },
    { key: defaultKey, record: { id: 0 }, id: "0" },
    { key: ["slug.current"], record: { slug: { current: "bell" } }, id: "bell" },
    { key: ["documentId", "locale"], record: { documentId: "a", locale: "de" }, id: "a/de" },
    { key: ["documentId", "locale"], record: { documentId: "a/b", locale: "de" }, id: "a\\/b/de" }
  ])("of $record by $key is $id", ({ id, key, record }) => {
    expect(recordId(key)(record)).toEqual(Option.some(id))
  })

  it.each([
    { key: defaultKey, record: {} },
    { key: defaultKey, record: { id: null } },
    { key: defaultKey, record: "a" },
    { key: ["id", "locale"], record: { id: "a" } },
    { key: ["constructor"], record: {} }
  ])("of $record by $key does not exist", ({ key, record }) => {
    expect(recordId(key)(record)).toEqual(Option.none())
  })
})
