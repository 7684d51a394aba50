/**
 * Attachments in saved records: which values are attachments, and which of their fields are content.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeSearch } from "../../../../src/layers/documents/media/findMedia.ts"
import { rulesOf } from "../../../../src/layers/documents/media/links.ts"
import { attachments } from "../../../../src/layers/sources/tables/AirtableClient.ts"
import { makeLasting, makeReader } from "../../../../src/layers/sources/tables/Attachments.ts"
import type { AttachmentFormat } from "../../../../src/services/TableSourceClient.ts"
import { atOnce } from "../../../support/atOnce.ts"

const attachment = (signature: string) => ({
  id: "att1",
  url: `https://files.example/${signature}`,
  filename: "a.png",
  size: 3,
  thumbnails: { small: { url: `https://files.example/small/${signature}` } }
})

/** The attachments of a record, with the record as it is saved. */
const look = (fields: object, format: AttachmentFormat | undefined = attachments, links = {}) => {
  const { found, look } = makeSearch(
    {
      isWanted: true,
      areLinksSigned: false,
      reader: makeReader(
        { appendLocalAttachmentPaths: true, links },
        { ...(format && { attachments: format }), readRecord: () => Effect.dieMessage("no record") }
      ),
      lasting: makeLasting(links, format),
      rules: rulesOf({}),
      wantsPictures: false
    },
    { document: "Objects", kind: "table" }
  )
  return { ...atOnce(look({ id: "rec1", ...fields }, 0)), files: [...found().files.values()] }
}

const pathsIn = (...of: Parameters<typeof look>) => look(...of).files.map(({ localPath }) => localPath)

describe("attachments", () => {
  it("are found in arrays, also in arrays of lookups", () => {
    const path = "attachments/att1/a.png"
    expect(pathsIn({ People: [{ id: "usr1", email: "a@example.org", name: "A" }] })).toEqual([])
    expect(pathsIn({ Photo: [attachment("x")] })).toEqual([path])
    expect(pathsIn({ Lookup: [null, [null, attachment("x")], { error: "#ERROR!" }] })).toEqual([path])
    expect(pathsIn({ Button: attachment("x") })).toEqual([])
    expect(pathsIn({ Text: "a", Tags: ["b"], None: null })).toEqual([])
  })

  it("are found in linked records, which are no attachments themselves", () => {
    const generic: AttachmentFormat = {
      read: ({ filename, id, url }) =>
        typeof id === "string" && typeof url === "string" && typeof filename === "string"
          ? Option.some({ id, url, filename, size: Option.none() })
          : Option.none(),
      lastingFields: new Set(["id", "filename"])
    }
    const maker = { id: "1", url: "https://a.example/", filename: "x", Photo: [attachment("x")] }
    expect(pathsIn({ Maker: [maker] }, generic, { Maker: "Makers" })).toEqual(["attachments/att1/a.png"])
    expect(pathsIn({ Maker: maker }, generic, { Maker: "Makers" })).toEqual(["attachments/att1/a.png"])
  })

  it("have a size if it is valid", () => {
    const sized = (size: unknown) => ({ Photo: [{ ...attachment("x"), size }] })
    expect(
      [3, 0, -1, 1.5, "3", undefined].flatMap((size) => look(sized(size)).files.map(({ size }) => size))
    ).toEqual([3, 0, undefined, undefined, undefined, undefined])
  })

  it("are read as the client says, and not at all if it has none", () => {
    const format: AttachmentFormat = {
      read: ({ href }) =>
        typeof href === "string"
          ? Option.some({ id: "one", url: href, filename: "file", size: Option.none() })
          : Option.none(),
      lastingFields: new Set(["title"])
    }
    const cell = [{ href: "https://files.example/1?sig", title: "One" }]
    const { saved, stable } = look({ File: cell }, format)
    expect(saved).toMatchObject({ File: [{ localPath: "attachments/one/file", title: "One" }] })
    expect(stable).toEqual({
      id: "rec1",
      File: [{ title: "One", localPath: "attachments/one/file" }]
    })
    expect(pathsIn({ Photo: [attachment("x")] }, { read: Option.none, lastingFields: new Set() })).toEqual([])
  })

  it("have the same identity when only their link is signed anew", () => {
    const cells = (signature: string) => ({
      Photo: [attachment(signature)],
      Lookup: [null, [attachment(signature), "text"]],
      Text: "a"
    })
    const lasting = { id: "att1", filename: "a.png", size: 3, localPath: "attachments/att1/a.png" }
    expect(look(cells("x")).stable).toEqual({
      id: "rec1",
      Photo: [lasting],
      Lookup: [null, [lasting, "text"]],
      Text: "a"
    })
    expect(look(cells("x")).stable).toEqual(look(cells("y")).stable)
    const { saved, stable } = look({ Tags: ["b"], Person: { name: "A", roles: [["c"]] }, Text: "a" })
    expect(stable).toBe(saved)
  })
})
