import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { fileKey } from "../../../../src/files/fileName.ts"
import { attachmentName, makeAttachmentPaths } from "../../../../src/layers/sources/tables/Attachments.ts"

/** Text with many characters that file systems do not accept, and with similar names. */
const hostile = FastCheck.oneof(
  FastCheck.string({ unit: "binary", maxLength: 30 }),
  FastCheck.string({
    unit: FastCheck.constantFrom(
      "a",
      "A",
      "é",
      "e\u0301",
      "É",
      ".",
      " ",
      "/",
      "\\",
      "%",
      "~",
      "\ud800",
      "\0"
    ),
    maxLength: 6
  }),
  FastCheck.constantFrom("..", "con.png", "NUL", "aux .tar.gz", ".env", "a.png", "A.PNG", "ß", "SS"),
  FastCheck.tuple(
    FastCheck.string({ unit: "grapheme", minLength: 150, maxLength: 200 }),
    FastCheck.constantFrom("", ".jpeg", ".JPEG", ". ", ".é")
  ).map(([stem, extension]) => stem + extension)
)

const twins = FastCheck.string({ unit: FastCheck.constantFrom("a", "A", "é", "e\u0301"), maxLength: 2 })

describe("attachmentName", () => {
  it.each([
    ["a.png", "a.png"],
    ["Foto 1 (ü).JPG", "Foto 1 (ü).JPG"],
    ["no extension", "no extension"],
    ["v1.2", "v1.2"],
    ["", "%"],
    [".env", "%2Eenv"],
    ["../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd"],
    ["con.png", "%63on.png"],
    ["a.tar.gz", "a.tar.gz"],
    ["a.png ", "a.png%20"]
  ])("writes %j as %j", (given, expected) => {
    expect(attachmentName(given)).toBe(expected)
  })

  it("keeps the extension of a long name", () => {
    const long = attachmentName(`${"ü".repeat(300)}.jpeg`)
    expect(long).toMatch(/^ü+%~[0-9a-f]{16}\.jpeg$/)
    expect(attachmentName(`${"ü".repeat(299)}.jpeg`)).not.toBe(long)
  })

  it.prop(
    "is always a safe single name, and differs for different names",
    [hostile, hostile],
    ([one, other]) => {
      const safe = attachmentName(one)
      expect(safe).not.toMatch(/[\u0000-\u001f\u007f-\u009f<>:"/\\|?*]|^\.|[. ]$|^$/)
      expect(safe).not.toMatch(/\p{Surrogate}/u)
      expect(safe).not.toMatch(/^(con|prn|aux|nul|(com|lpt)[0-9¹²³]|con(in|out)\$) *(\.|$)/i)
      expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(255)
      expect(attachmentName(other) === safe).toBe(one === other)
    }
  )
})

describe("the path of an attachment", () => {
  it("has its id and its name", () => {
    const pathOf = makeAttachmentPaths()
    expect(pathOf({ id: "attAbC1", filename: "a.png" })).toBe("attachments/attAbC1/a.png")
    expect(pathOf({ id: "attAbC1", filename: "b.png" })).toBe("attachments/attAbC1/b.png")
    expect(pathOf({ id: "../..", filename: ".." })).toBe("attachments/%2E.%2F.%2E/%2E%2E")
  })

  it("differs for ids that a file system takes for the same", () => {
    const pathOf = makeAttachmentPaths()
    const paths = ["attA", "atta", "ATTA", "att\u00e9", "atte\u0301"].map((id) =>
      pathOf({ id, filename: "a.png" })
    )
    expect(paths[0]).toBe("attachments/attA/a.png")
    expect(paths[1]).toMatch(/^attachments\/atta%~[0-9a-f]{8}\/a\.png$/)
    expect(new Set(paths.map(fileKey)).size).toBe(paths.length)
  })

  it.prop(
    "is a different file for each attachment, and the same each time",
    [
      FastCheck.array(
        FastCheck.record({ id: FastCheck.oneof(hostile, twins), filename: FastCheck.oneof(hostile, twins) }),
        {
          maxLength: 12
        }
      )
    ],
    ([attachments]) => {
      const pathOf = makeAttachmentPaths()
      const owners = new Map<string, string>()
      for (const attachment of [...attachments, ...attachments]) {
        const path = pathOf(attachment)
        const segments = path.split("/")
        expect(segments).toHaveLength(3)
        expect(Math.max(...segments.map((segment) => Buffer.byteLength(segment)))).toBeLessThanOrEqual(255)
        const file = segments.map(fileKey).join("/")
        expect(owners.get(file) ?? attachment.id).toBe(attachment.id)
        owners.set(file, attachment.id)
      }
    }
  )
})
