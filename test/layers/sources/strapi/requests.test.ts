/**
 * What is asked of Strapi: the query string, as the library reads it that Strapi reads it with.
 */
import { describe, expect, it } from "@effect/vitest"
import { onlyField, page, parameters } from "../../../../src/layers/sources/strapi/api.ts"

const text = (asked: ReadonlyArray<readonly [string, string]>) =>
  asked.map(([name, value]) => `${name}=${value}`)

describe("parameters", () => {
  it("puts nested names in brackets, and lists behind empty ones", () => {
    expect(
      text(parameters({ populate: { body: { on: { "block.picture": { populate: ["file"] } } } } }))
    ).toEqual(["populate[body][on][block.picture][populate][]=file"])
  })

  it("gives lists of objects their indices", () => {
    expect(text(parameters({ filters: { $or: [{ a: { $eq: 1 } }, { b: true }] } }))).toEqual([
      "filters[$or][0][a][$eq]=1",
      "filters[$or][1][b]=true"
    ])
  })

  it("leaves out what is not there", () => {
    expect(parameters({ populate: undefined, filters: { a: null } })).toEqual([])
  })
})

describe("a page", () => {
  const edition = { status: "published" } as const

  it("is sorted by documentId behind what the user sorts by", () => {
    expect(text(page({ sort: "title:desc" }, edition, 2))).toEqual([
      "sort[]=title:desc",
      "sort[]=documentId:asc",
      "pagination[page]=2",
      "pagination[pageSize]=100",
      "pagination[withCount]=true",
      "status=published"
    ])
  })

  it("has the language of each entry, where a user names fields of a type that has languages", () => {
    const german = { ...edition, locale: "de" }
    expect(text(page({ fields: ["title"] }, german, 1))).toContain("fields[]=locale")
    expect(text(page({ fields: ["title"] }, edition, 1))).not.toContain("fields[]=locale")
  })

  it("is not needed to see whether a type has a field", () => {
    expect(text(onlyField("locale", edition))).toEqual([
      "fields[]=locale",
      "pagination[pageSize]=1",
      "status=published"
    ])
  })
})
