/**
 * Requests to Strapi: the query string, read with Strapi's own library.
 */
import { describe, expect, it } from "@effect/vitest"
import type { Edition } from "../../../../src/layers/sources/strapi/languages.ts"
import type { StrapiType } from "../../../../src/layers/sources/strapi/StrapiOptions.ts"
import { parameters, strapi } from "../../../../src/layers/sources/strapi/strapiSource.ts"

const text = (asked: ReadonlyArray<readonly [string, string]>) =>
  asked.map(([name, value]) => `${name}=${value}`)

describe("parameters", () => {
  it("have nested names in brackets, and empty brackets for lists", () => {
    expect(
      text(parameters({ populate: { body: { on: { "block.picture": { populate: ["file"] } } } } }))
    ).toEqual(["populate[body][on][block.picture][populate][]=file"])
  })

  it("have indices for lists of objects", () => {
    expect(text(parameters({ filters: { $or: [{ a: { $eq: 1 } }, { b: true }] } }))).toEqual([
      "filters[$or][0][a][$eq]=1",
      "filters[$or][1][b]=true"
    ])
  })

  it("do not contain undefined values", () => {
    expect(parameters({ populate: undefined, filters: { a: null } })).toEqual([])
  })
})

describe("a page", () => {
  const page = (type: StrapiType, edition: Edition, number: number) =>
    strapi.page(type, edition, { number, read: 0, firstItems: 0 })
  const edition = { status: "published" } as const

  it("is sorted by documentId last, after the fields of the options", () => {
    expect(text(page({ sort: "title:desc" }, edition, 2))).toEqual([
      "sort[]=title:desc",
      "sort[]=documentId:asc",
      "pagination[page]=2",
      "pagination[pageSize]=100",
      "pagination[withCount]=true",
      "status=published"
    ])
  })

  it("includes the locale of each entry, if the options name fields of a type with locales", () => {
    const german = { ...edition, locale: "de" }
    expect(text(page({ fields: ["title"] }, german, 1))).toContain("fields[]=locale")
    expect(text(page({ fields: ["title"] }, edition, 1))).not.toContain("fields[]=locale")
  })
})
