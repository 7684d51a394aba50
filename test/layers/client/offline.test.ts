import { describe, expect, it } from "@effect/vitest"
import { afterEach, vi } from "vitest"
import { makeOffline } from "../../../src/layers/client/offline.ts"
import type { Manifest } from "../../../src/layers/client/Version.ts"

const manifest: Manifest = { schemaVersion: 1, versionId: "1", versionPath: "versions/1", sources: [] }
const root = "https://vitrine.invalid/"

/** The browser's caches, with one in it, and a server whose answers are these, by their addresses. */
const stub = (answers: Readonly<Record<string, Response>>) => {
  const kept = new Map<string, Response>()
  vi.stubGlobal("navigator", { locks: { request: (_: string, use: () => unknown) => use() } })
  vi.stubGlobal("caches", {
    open: async () => ({
      delete: async (url: string) => kept.delete(url),
      keys: async () => [...kept.keys()].map((url) => ({ url })),
      match: async (url: string) => kept.get(url)?.clone(),
      put: async (url: string, response: Response) => void kept.set(url, response)
    })
  })
  vi.stubGlobal("fetch", async (url: string) => answers[url])
  return kept
}

const bytes = (count: number) => new Blob(["x".repeat(count)]).stream()

const save = (maxBytes: number, ...paths: ReadonlyArray<string>) =>
  makeOffline("test").save(manifest, new Map(paths.map((path) => [path, path])), maxBytes)

afterEach(() => vi.unstubAllGlobals())

describe("the cache in the browser", () => {
  it("holds at most keepBytes, also of responses that were compressed", async () => {
    const answers = () => ({
      first: new Response(bytes(60)),
      second: new Response(bytes(60), { headers: { "Content-Length": "3" } })
    })
    const full = stub(answers())
    await save(100, "first", "second")
    expect(full.has(root)).toBe(false)

    const kept = stub(answers())
    await save(120, "first", "second")
    expect(kept.has(root)).toBe(true)
  })

  it("counts unchanged files too", async () => {
    const answers = {
      first: new Response(bytes(60), { headers: { ETag: '"1"' } }),
      second: new Response(bytes(60))
    }
    const kept = stub(answers)
    await save(100, "first")
    expect(kept.has(root)).toBe(true)
    answers.first = new Response(null, { status: 304 })
    await save(100, "first", "second")
    expect(kept.has(root)).toBe(false)
  })

  it("stops loading a file that is too large", async () => {
    const cancel = vi.fn()
    stub({
      first: new Response(new ReadableStream({ cancel }), { headers: { "Content-Length": "1000" } })
    })
    await save(100, "first")
    expect(cancel).toHaveBeenCalled()
  })
})
