/**
 * Responses of Strapi, and of other servers.
 */
import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { refused } from "../../../../src/layers/documents/cms.ts"
import { readAnswer, readRefusal, strapi } from "../../../../src/layers/sources/strapi/strapiSource.ts"

const pagination = { page: 1, pageSize: 25, pageCount: 1, total: 1 }

describe("readAnswer", () => {
  it("reads a page and the one entry of a single type", () => {
    const entry = { id: 1, documentId: "abc", title: "Bell" }
    expect(readAnswer({ data: [entry], meta: { pagination } })).toEqual({
      kind: "page",
      items: [entry],
      size: 25,
      pages: 1,
      total: 1
    })
    expect(readAnswer({ data: entry, meta: {} })).toEqual({ kind: "single", item: entry })
  })

  it("reports what is wrong with other responses", () => {
    const detailOf = (body: unknown) => {
      const answer = readAnswer(body)
      return answer.kind === "strange" ? answer.detail : answer.kind
    }
    const old = { id: 1, attributes: { title: "Bell" } }
    expect(detailOf({ data: [old], meta: { pagination } })).toMatch("version 4")
    expect(detailOf({ data: old, meta: {} })).toMatch("version 4")
    expect(detailOf({ data: [{ title: "Bell" }], meta: { pagination } })).toMatch("documentId")
    expect(detailOf({ data: [], meta: {} })).toMatch("pageCount")
    expect(detailOf([])).toMatch('"data"')
  })

  it.prop("never throws, for any response", [FastCheck.jsonValue()], ([body]) => {
    readAnswer(body)
    readAnswer({ data: body })
    readRefusal(body)
    readRefusal({ error: body })
  })
})

describe("a refusal", () => {
  const refusal = (error: unknown) => readRefusal({ data: null, error })

  it("explains what to do about a token, with the words of Strapi", () => {
    const unauthorized = refusal({ name: "UnauthorizedError", message: "Missing or invalid credentials" })
    expect(refused(strapi, "articles", 401, true, unauthorized).message).toBe(
      'Strapi does not accept the token. Check "token": in Strapi, Settings, API Tokens shows whether it has expired (HTTP 401, UnauthorizedError: Missing or invalid credentials)'
    )
    const forbidden = refusal({ name: "ForbiddenError", message: "Forbidden" })
    expect(refused(strapi, "articles", 403, true, forbidden).message).toMatch(
      'The token may not read articles: in Strapi, Settings, API Tokens, allow "find" of it'
    )
    expect(refused(strapi, "articles", 403, false, forbidden).message).toMatch("Roles, Public")
  })

  it("names the invalid parameter", () => {
    const invalid = refusal({
      name: "ValidationError",
      message: "Invalid key nofield",
      details: { key: "nofield", source: "query", param: "sort" }
    })
    expect(refused(strapi, "articles", 400, true, invalid).message).toMatch(
      'articles has no "nofield" for "sort"'
    )
  })

  it("mentions collection and single types if the type does not exist", () => {
    expect(refused(strapi, "article", 404, true, refusal({})).message).toMatch("plural")
  })

  it("is shortened, without control characters", () => {
    const text = refused(
      strapi,
      "articles",
      500,
      true,
      refusal({ message: `\u001b[2J${"x".repeat(10_000)}` })
    ).message
    expect(text).not.toContain("\u001b")
    expect(text.length).toBeLessThan(400)
  })
})
