import { resolveObjectURL } from "node:buffer"
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
  vi.stubGlobal(
    "fetch",
    async (url: string) => answers[url] ?? Promise.reject(new TypeError("Failed to fetch"))
  )
  return kept
}

/** The texts that a page finds after a start without a controller, by the paths of the files. */
const restored = async () => {
  const found = await makeOffline("test").restore()
  const texts = [...(found?.kept ?? [])].map(
    async ([path, url]) => [path, await await resolveObjectURL(url.split("#")[0] ?? "")?.text()] as const
  )
  return found && { versionId: found.manifest.versionId, ...Object.fromEntries(await Promise.all(texts)) }
}

const version = (versionId: string) => ({ ...manifest, versionId })

const bytes = (count: number) => new Blob(["x".repeat(count)]).stream()

const save = (maxBytes: number, ...paths: ReadonlyArray<string>) =>
  makeOffline("test").save(manifest, new Map(paths.map((path) => [path, path])), maxBytes)

afterEach(() => vi.unstubAllGlobals())

describe("the cache in the browser", () => {
  it("keeps the version again after a power cut has damaged its entry", async () => {
    const kept = stub({ first: new Response(bytes(60)) })
    kept.set(root, new Response('{"versionId":"2026'))
    expect(await restored()).toBeUndefined()
    await save(100, "first")
    expect(await restored()).toEqual({ versionId: "1", first: "x".repeat(60) })
  })

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
    stub(answers)
    await save(100, "first")
    expect(Object.keys((await restored()) ?? {})).toEqual(["versionId", "first"])
    answers.first = new Response(null, { status: 304 })
    await save(100, "first", "second")
    expect(Object.keys((await restored()) ?? {})).toEqual(["versionId", "first"])
  })

  it.each([
    ["fails", {}],
    ["is refused", { second: new Response("", { status: 503 }) }]
  ])("keeps the version before if a request for the next one %s", async (_, answer) => {
    const answers: Record<string, Response> = { first: new Response("1"), second: new Response("1") }
    stub(answers)
    const offline = makeOffline("test")
    const files = new Map(["first", "second"].map((path) => [path, path]))
    await offline.save(version("1"), files, 100)
    expect(await restored()).toEqual({ versionId: "1", first: "1", second: "1" })

    delete answers.second
    Object.assign(answers, { first: new Response("2") }, answer)
    expect(await offline.save(version("2"), new Map(files), 100)).toMatch(/^second: /)
    expect(await restored()).toEqual({ versionId: "1", first: "1", second: "1" })
  })

  it("keeps the version before if the next one is too large", async () => {
    const answers: Record<string, Response> = { first: new Response("1") }
    const kept = stub(answers)
    await save(100, "first")
    answers.first = new Response("2")
    answers.second = new Response(bytes(100))
    await save(100, "first", "second")
    expect(await restored()).toEqual({ versionId: "1", first: "1" })
    expect(kept.size).toBe(2)
  })

  it("requests only the missing files when it saves a version again", async () => {
    const answers: Record<string, Response> = { first: new Response("1") }
    const kept = stub(answers)
    const offline = makeOffline("test")
    const files = new Map(["first", "second"].map((path) => [path, path]))
    await offline.save(manifest, files, 100)
    delete answers.first
    answers.second = new Response("2")
    expect(await offline.save(manifest, files, 100)).toBeUndefined()
    expect(await restored()).toEqual({ versionId: "1", first: "1", second: "2" })
    expect(kept.size).toBe(3)
  })

  it("gives up a request that is not answered for a minute, for which other tabs wait", async () => {
    vi.useFakeTimers()
    stub({})
    vi.stubGlobal(
      "fetch",
      (_: string, { signal }: RequestInit) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))
    )
    const saving = save(100, "first")
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await saving).toMatch(/^first: AbortError/)
    vi.useRealTimers()
  })

  it("stops loading a file that is too large", async () => {
    const aborted = vi.fn()
    const response = new Response(new ReadableStream(), { headers: { "Content-Length": "1000" } })
    stub({})
    vi.stubGlobal("fetch", async (_: string, { signal }: RequestInit) => {
      signal?.addEventListener("abort", aborted)
      return response
    })
    await save(100, "first")
    expect(aborted).toHaveBeenCalled()
    expect(response.bodyUsed).toBe(false)
  })
})
