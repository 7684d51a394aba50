import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { sha256OfText } from "../../src/internal/sha256.ts"
import { type FileList, FileListJson, fileListText } from "../../src/services/FileList.ts"
import { applyDelta, deltaOf, FileListDeltaJson } from "../../src/services/FileListDelta.ts"

const files = FastCheck.dictionary(
  FastCheck.constantFrom("a", "b/c", "b/d", "10", "9", "constructor", "toString", "é"),
  FastCheck.record({ size: FastCheck.nat(2), sha256: FastCheck.constantFrom("1", "2").map(sha256OfText) })
)

/** Such a list as it is on disk, and as it is read from there. */
const listOf = (versionId: string) =>
  FastCheck.uniqueArray(
    FastCheck.record(
      {
        sourceId: FastCheck.constantFrom("objects", "tours", "maps"),
        fingerprint: FastCheck.string(),
        records: FastCheck.nat(),
        files
      },
      { requiredKeys: ["sourceId", "fingerprint", "files"] }
    ),
    { selector: ({ sourceId }) => sourceId }
  ).map((sources) =>
    fileListText({ schemaVersion: 1, versionId, generatedAt: "2026-11-21T09:30:00.250Z", sources })
  )

const decode = Schema.decodeSync(FileListJson)

/** As it is sent. */
const deltaText = (base: string, text: string) => JSON.stringify(deltaOf(decode(base), decode(text)))

const applied = (base: string, delta: string) =>
  applyDelta(decode(base), Schema.decodeSync(FileListDeltaJson)(delta))

describe("FileListDelta", () => {
  it.prop(
    "of any two lists makes the one of the other, byte for byte",
    [listOf("20261121T093000Z"), listOf("20261121T093001Z")],
    ([base, text]) => {
      expect(applied(base, deltaText(base, text))).toBe(text)
    }
  )

  it("has only what has changed", () => {
    const file = { size: 1, sha256: sha256OfText("1") }
    const list = (versionId: string, files: FileList["sources"][number]["files"]): FileList => ({
      schemaVersion: 1,
      versionId,
      generatedAt: "2026-11-21T09:30:00.250Z",
      sources: [{ sourceId: "objects", fingerprint: versionId, files }]
    })
    const changed = { size: 1, sha256: sha256OfText("2") }
    const base = list("20261121T093000Z", { same: file, changed: file, gone: file })
    expect(deltaOf(base, list("20261121T093001Z", { same: file, changed, added: file }))).toEqual({
      ...list("20261121T093001Z", {}),
      since: "20261121T093000Z",
      sources: [
        {
          sourceId: "objects",
          fingerprint: "20261121T093001Z",
          files: { changed, added: file },
          removed: ["gone"]
        }
      ]
    })
  })
})
