import { describe, expect, it } from "@effect/vitest"
import * as Option from "effect/Option"
import { defaultKey, recordId } from "../../src/internal/recordKey.ts"

describe("the key of a record", () => {
  it.each([
    { key: defaultKey, record: { id: "a" }, id: "a" },
    { key: defaultKey, record: { id: 0 }, id: "0" },
    { key: ["slug.current"], record: { slug: { current: "bell" } }, id: "bell" },
    { key: ["documentId", "locale"], record: { documentId: "a", locale: "de" }, id: "a/de" }
  ])("is $id of $record by $key", ({ id, key, record }) => {
    expect(recordId(key)(record)).toEqual(Option.some(id))
  })

  it.each([
    { key: defaultKey, record: {} },
    { key: defaultKey, record: { id: null } },
    { key: defaultKey, record: "a" },
    { key: ["id", "locale"], record: { id: "a" } },
    { key: ["constructor"], record: {} }
  ])("is none of $record by $key", ({ key, record }) => {
    expect(recordId(key)(record)).toEqual(Option.none())
  })
})
