import { describe, expect, it, vi } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { type FileList, FileListJson, fileListText, filesOf } from "../../src/files/FileList.ts"
import { foldCase } from "../../src/files/fileName.ts"
import { issueText, placedIssues } from "../../src/internal/Options.ts"
import { attachmentName } from "../../src/layers/sources/tables/Attachments.ts"
import { SourceFile } from "../../src/services/ContentSource.ts"

const decode = Schema.decodeEither(FileListJson)

/** Names as they are stored, many of them similar. */
const names = FastCheck.oneof(
  FastCheck.constantFrom("a", "A", "é", "e\u0301", "constructor", "10", "9"),
  FastCheck.string({ unit: "binary", maxLength: 300 }).map(attachmentName)
)

const paths = FastCheck.array(names, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"))

const fileEntries = FastCheck.uniqueArray(FastCheck.tuple(paths, Arbitrary.make(SourceFile)), {
  selector: ([path]) => path
})

const listOf = (files: ReadonlyArray<readonly [path: string, file: SourceFile]>): FileList => ({
  schemaVersion: 1,
  versionId: "20261121T093000Z",
  generatedAt: "2026-11-21T09:30:00.250Z",
  sources: [{ sourceId: "objects", fingerprint: "f", files: Object.fromEntries(files) }]
})

const someFile: SourceFile = { size: 1, sha256: "0".repeat(64) }

const textOf = (paths: ReadonlyArray<string>) =>
  JSON.stringify({
    ...listOf([]),
    sources: [{ ...listOf([]).sources[0], files: Object.fromEntries(paths.map((path) => [path, someFile])) }]
  })

/** The mistake in a list of these paths; empty if there is none. */
const problemOf = (...paths: ReadonlyArray<string>) =>
  Either.match(decode(textOf(paths)), {
    onLeft: (error) => issueText(placedIssues(error)),
    onRight: () => ""
  })

/** Each in this many folders of its own. */
const manyPaths = (count: number, folders: number) =>
  Array.from({ length: count }, (_, index) => `${index}/${"a/".repeat(folders - 1)}x`)

describe("FileList", () => {
  it("names both files whose names differ only in Unicode composition", () => {
    expect(problemOf("gr\u00fcn.txt", "gru\u0308n.txt")).toMatch(
      /"gr(\u00fc|u\u0308)n\.txt" and "gr(u\u0308|\u00fc)n\.txt" .+ the same letters, composed and decomposed/
    )
    expect(problemOf("a.txt", "A.txt")).not.toContain("composed")
  })

  it.prop(
    "is the same after it was written and read, in any order of its files",
    [fileEntries],
    ([entries]) => {
      const list = listOf(entries)
      const text = fileListText(list)
      expect(fileListText(listOf(entries.toReversed()))).toBe(text)
      const decoded = decode(text)
      if (Either.isRight(decoded)) {
        expect(decoded.right).toEqual(list)
        expect(filesOf(decoded.right).size).toBe(entries.length)
      } else {
        expect(issueText(placedIssues(decoded.left))).toContain("side by side")
      }
    }
  )

  it.prop(
    "can be stored on a file system that ignores case, or is refused",
    [FastCheck.array(paths, { maxLength: 4 })],
    ([paths]) => {
      const distinct = [...new Set(paths)]
      const entries = new Set(distinct.flatMap((path) => prefixes(path)))
      const canBeStored =
        new Set([...entries].map(foldCase)).size === entries.size &&
        distinct.every((path) => !distinct.some((other) => other.startsWith(`${path}/`)))
      expect(problemOf(...distinct) === "").toBe(canBeStored)
    }
  )

  for (const path of [
    "",
    ".",
    "..",
    "../x",
    "a/../x",
    "a/./x",
    "a//x",
    "/etc/passwd",
    "a/",
    "a\\x",
    "\\\\server\\share",
    "C:",
    "c:/x",
    "c:x",
    "a:stream",
    "a\0b",
    "a\nb",
    "\ud800",
    ".hidden",
    "a/.hidden",
    "dot.",
    "space ",
    "con",
    "a/NUL.txt",
    "com1",
    "COM¹.x",
    "what?",
    "__proto__",
    "x".repeat(256),
    "ä".repeat(128),
    `${"d/".repeat(33)}x`,
    `${"x".repeat(204)}/`.repeat(4) + "x".repeat(205),
    `${"ä".repeat(102)}/`.repeat(4) + "ä".repeat(103)
  ]) {
    it(`refuses the path ${JSON.stringify(path).slice(0, 24)}`, () => {
      expect(problemOf(path)).toMatch(/: must be a relative path .* that Linux, macOS and Windows can store$/)
      expect(problemOf("fine", path)).not.toBe("")
    })
  }

  it("accepts paths of 32 folders and of 1,024 bytes", () => {
    expect(problemOf(`${"d/".repeat(32)}x`)).toBe("")
    expect(problemOf(`${"ä".repeat(102)}/`.repeat(4) + "ä".repeat(102))).toBe("")
    expect(problemOf(`${"x".repeat(204)}/`.repeat(4) + "x".repeat(204))).toBe("")
  })

  it.each([
    ["30,000 folders deep", [`${"a/".repeat(30_000)}x`]],
    ["100,000 folders deep", [`${"a/".repeat(100_000)}x`]],
    ["each of 1,000 in 32 folders of its own", manyPaths(1000, 32)]
  ])("reads each character of paths only a few times: %s", (_, paths) => {
    const normalize = vi.spyOn(String.prototype, "normalize")
    problemOf(...paths)
    const characters = normalize.mock.contexts.reduce((sum: number, name) => sum + String(name).length, 0)
    normalize.mockRestore()
    expect(characters).toBeLessThan(4 * textOf(paths).length)
  })

  it("refuses more than 2,000,000 names in all paths before it checks any", () => {
    const normalize = vi.spyOn(String.prototype, "normalize")
    const problem = problemOf(...manyPaths(62_501, 31))
    const calls = normalize.mock.calls.length
    normalize.mockRestore()
    expect(calls).toBe(0)
    expect(problem).toContain("more than 2000000 names")
  })

  it("refuses more than 1,000 sources", () => {
    const sources = Array.from({ length: 1001 }, (_, index) => ({
      sourceId: `s${index}`,
      fingerprint: "f",
      files: {}
    }))
    const decoded = (count: number) =>
      Either.mapLeft(decode(JSON.stringify({ ...listOf([]), sources: sources.slice(0, count) })), (error) =>
        issueText(placedIssues(error))
      )
    expect(Either.isRight(decoded(1000))).toBe(true)
    // Printing the sources of a list of 60 MB would take ten seconds.
    expect(decoded(1001)).toEqual(Either.left("sources: must be 1000 at most, not 1001"))
  })

  it("stops at the first invalid path", () => {
    const byteLength = vi.spyOn(Buffer, "byteLength")
    problemOf(...Array.from({ length: 1000 }, (_, index) => `a:${index}`))
    const calls = byteLength.mock.calls.length
    byteLength.mockRestore()
    expect(calls).toBeLessThan(10)
  })

  for (const sourceId of ["", "..", "a/b", "files.json", "FILES.json", "c:", "\0"]) {
    it(`refuses the source ${JSON.stringify(sourceId)}`, () => {
      const list = listOf([])
      const text = JSON.stringify({ ...list, sources: [{ ...list.sources[0], sourceId }] })
      expect(Either.isLeft(decode(text))).toBe(true)
    })
  }

  it("refuses sources with the same folder", () => {
    const list = listOf([])
    const [source] = list.sources
    const text = (...ids: ReadonlyArray<string>) =>
      JSON.stringify({ ...list, sources: ids.map((sourceId) => ({ ...source, sourceId })) })
    expect(Either.isRight(decode(text("tours", "objects")))).toBe(true)
    expect(Either.isLeft(decode(text("tours", "Tours")))).toBe(true)
    expect(Either.isLeft(decode(text("tours", "tours")))).toBe(true)
  })

  it("refuses other members of a file than size and digest", () => {
    const text = fileListText(listOf([["a", someFile]])).replace('"size"', '"more": 1, "size"')
    expect(Either.mapLeft(decode(text), (error) => issueText(placedIssues(error)))).toMatchObject({
      left: expect.stringContaining("sources[0].files.a.more: there is no such key")
    })
  })

  it("refuses invalid digests and sizes", () => {
    const [text, digest] = [fileListText(listOf([["a", someFile]])), someFile.sha256]
    for (const wrong of ["0".repeat(63), "0".repeat(65), "A".repeat(64), ""]) {
      expect(Either.isLeft(decode(text.replace(digest, wrong)))).toBe(true)
    }
    for (const size of ["-1", "1.5", '"1"', "1e400"]) {
      expect(Either.isLeft(decode(text.replace('"size": 1', `"size": ${size}`)))).toBe(true)
    }
  })
})

const prefixes = (path: string): ReadonlyArray<string> =>
  path.split("/").map((_, index, names) => names.slice(0, index + 1).join("/"))
