import { describe, expect, it } from "@effect/vitest"
import {
  hasAttachments,
  isAttachment,
  withoutVolatileParts
} from "../../../src/layers/tableSource/Attachment.ts"

const attachment = (signature: string) => ({
  id: "att1",
  url: `https://files.example/${signature}`,
  filename: "a.png",
  size: 3,
  thumbnails: { small: { url: `https://files.example/small/${signature}` } }
})

describe("attachments", () => {
  it("are items of arrays, in lookups too", () => {
    expect(isAttachment(attachment("x"))).toBe(true)
    expect(isAttachment({ id: "usr1", email: "a@example.org", name: "A" })).toBe(false)
    expect(hasAttachments({ Photo: [attachment("x")] })).toBe(true)
    expect(hasAttachments({ Lookup: [null, [null, attachment("x")], { error: "#ERROR!" }] })).toBe(true)
    expect(hasAttachments({ Button: attachment("x") })).toBe(false)
    expect(hasAttachments({ Text: "a", Tags: ["b"], None: null })).toBe(false)
  })

  it("last but for what is signed anew", () => {
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

  it("leave every other value as it is", () => {
    const cells = JSON.parse(
      '{"__proto__":{"url":"u"},"Button":{"url":"u","label":"l"},"Tags":[{"url":"u"}]}'
    )
    expect(JSON.stringify(withoutVolatileParts(cells))).toBe(JSON.stringify(cells))
  })
})
