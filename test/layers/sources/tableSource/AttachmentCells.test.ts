import { describe, expect, it } from "@effect/vitest"
import * as Option from "effect/Option"
import { attachments } from "../../../../src/layers/sources/airtable/tableClient.ts"
import * as Attachments from "../../../../src/layers/sources/tableSource/Attachments.ts"

const { allIn, replaceIn, withoutVolatileParts } = Attachments.make(attachments)

const attachment = (signature: string) => ({
  id: "att1",
  url: `https://files.example/${signature}`,
  filename: "a.png",
  size: 3,
  thumbnails: { small: { url: `https://files.example/small/${signature}` } }
})

describe("attachments", () => {
  it("are found in arrays, also in those of lookups", () => {
    const idsIn = (value: unknown) => allIn(value).map(({ id }) => id)
    expect(idsIn([{ id: "usr1", email: "a@example.org", name: "A" }])).toEqual([])
    expect(idsIn({ Photo: [attachment("x")] })).toEqual(["att1"])
    expect(idsIn({ Lookup: [null, [null, attachment("x")], { error: "#ERROR!" }] })).toEqual(["att1"])
    expect(idsIn({ Button: attachment("x") })).toEqual([])
    expect(idsIn({ Text: "a", Tags: ["b"], None: null })).toEqual([])
  })

  it("leave values without attachments as the same objects", () => {
    const cells = { Photo: [attachment("x")], Tags: ["b"], Person: { name: "A", roles: [["c"]] }, Text: "a" }
    const { Photo: _, ...others } = cells
    expect(withoutVolatileParts(others)).toBe(others)
    expect(replaceIn(cells, (_, item) => item)).toBe(cells)
    const replaced = replaceIn(cells, () => ({}))
    expect(replaced).toEqual({ ...others, Photo: [{}] })
    expect(Object.keys(Object(replaced))).toEqual(Object.keys(cells))
    expect(Reflect.get(Object(replaced), "Person")).toBe(cells.Person)
  })

  it("have a size if it is a valid one", () => {
    const sized = (size: unknown) => [{ ...attachment("x"), size }]
    expect(
      [3, 0, -1, 1.5, "3", undefined].flatMap((size) => allIn(sized(size)).map(({ size }) => size))
    ).toEqual([Option.some(3), Option.some(0), ...Array.from({ length: 4 }, () => Option.none())])
  })

  it("are read as the client says, and not at all where it has none", () => {
    const cells = Attachments.make({
      read: ({ href }) =>
        typeof href === "string"
          ? Option.some({ id: href, url: href, filename: "file", size: Option.none() })
          : Option.none(),
      lastingFields: new Set(["title"])
    })
    const cell = [{ href: "https://files.example/1?sig", title: "One", localPath: "attachments/1/file" }]
    expect(cells.allIn(cell).map(({ id }) => id)).toEqual(["https://files.example/1?sig"])
    expect(cells.withoutVolatileParts(cell)).toEqual([{ title: "One", localPath: "attachments/1/file" }])
    expect(Attachments.make().allIn([attachment("x")])).toEqual([])
  })

  it("have the same identity when only their link is signed anew", () => {
    const cells = (signature: string) => ({
      Photo: [attachment(signature)],
      Lookup: [null, [attachment(signature), "text"]],
      Text: "a"
    })
    const lasting = { id: "att1", filename: "a.png", size: 3 }
    expect(withoutVolatileParts(cells("x"))).toEqual({
      Photo: [lasting],
      Lookup: [null, [lasting, "text"]],
      Text: "a"
    })
    expect(withoutVolatileParts(cells("x"))).toEqual(withoutVolatileParts(cells("y")))
  })

  it("do not change any other value", () => {
    const cells = JSON.parse(
      '{"__proto__":{"url":"u"},"Button":{"url":"u","label":"l"},"Tags":[{"url":"u"}]}'
    )
    expect(JSON.stringify(withoutVolatileParts(cells))).toBe(JSON.stringify(cells))
  })
})
