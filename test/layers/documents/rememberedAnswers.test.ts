import { describe, expect, it } from "@effect/vitest"
import { makeRememberedAnswers } from "../../../src/layers/documents/rememberedAnswers.ts"

const answer = (text: string, headers: Record<string, string> = { etag: '"1"' }) => ({
  url: "http://a/",
  headers,
  text
})

describe("remembered answers", () => {
  it("are asked about by their ETag, or else by the date that the server gave", () => {
    const { add, find } = makeRememberedAnswers()
    add("http://a/", {}, answer("a", { etag: 'W/"1-gzip"', "last-modified": "then" }))
    add("http://b/", {}, answer("b", { "last-modified": "then" }))
    add("http://c/", {}, answer("c", {}))
    expect(find("http://a/", {})?.conditions).toEqual({ "if-none-match": 'W/"1-gzip"' })
    expect(find("http://b/", {})?.conditions).toEqual({ "if-modified-since": "then" })
    expect(find("http://c/", {})).toBeUndefined()
  })

  it("are those to the same headers", () => {
    const { add, find } = makeRememberedAnswers()
    add("http://a/", { authorization: "one" }, answer("a"))
    expect(find("http://a/", { authorization: "other" })).toBeUndefined()
    expect(find("http://a/", { authorization: "one" })?.answer.text).toBe("a")
  })

  it("have 16 MiB together, and go with what was asked for longest ago", () => {
    const { add, find } = makeRememberedAnswers()
    const half = "x".repeat(8 * 1024 * 1024 - 100)
    add("http://a/", {}, answer(half))
    add("http://b/", {}, answer(half))
    find("http://a/", {})
    add("http://c/", {}, answer("c".repeat(200)))
    expect(["a", "b", "c"].map((name) => find(`http://${name}/`, {}) !== undefined)).toEqual([
      true,
      false,
      true
    ])
    add("http://d/", {}, answer(`${half}${half}${"d".repeat(200)}`))
    expect(find("http://d/", {})).toBeUndefined()
    expect(find("http://a/", {})).toBeDefined()
  })

  it("are replaced by newer ones", () => {
    const { add, find } = makeRememberedAnswers()
    add("http://a/", {}, answer("a"))
    add("http://a/", {}, answer("b", { etag: '"2"' }))
    expect(find("http://a/", {})?.answer.text).toBe("b")
    add("http://a/", {}, answer("c", {}))
    expect(find("http://a/", {})).toBeUndefined()
  })
})
