/**
 * The version on the screen, kept in the browser's Cache Storage, so that the page can start without a controller.
 *
 * Files are kept under the paths that are the same in all versions, and what has not changed is not loaded again. The
 * manifest is written last: while it is missing, nothing is whole.
 */
import type { Manifest } from "./Version.ts"

const root = "https://vitrine.invalid/"

export interface Offline {
  /** Keeps the files of a version, by their paths and addresses, in the place of those before. */
  readonly save: (manifest: Manifest, files: ReadonlyMap<string, string>, maxBytes: number) => Promise<void>
  /** What is kept, if anything is: the manifest, and addresses of the files by their paths. */
  readonly restore: () => Promise<
    { readonly manifest: Manifest; readonly kept: ReadonlyMap<string, string> } | undefined
  >
}

/** All of it fails where the page may not use the storage. */
export const makeOffline = (name: string): Offline => {
  /** One tab at a time. */
  const inCache = async <A>(use: (cache: Cache) => Promise<A>): Promise<A> =>
    navigator.locks.request(`${name} cache`, async () => use(await caches.open(name)))

  return {
    save: (manifest, files, maxBytes) =>
      inCache(async (cache) => {
        await cache.delete(root)
        for (const { url } of await cache.keys()) {
          if (!files.has(url.slice(root.length))) {
            await cache.delete(url)
          }
        }
        let bytes = 0
        for (const [path, url] of files) {
          const before = await cache.match(root + path)
          const etag = before?.headers.get("etag")
          const response = await fetch(url, etag ? { headers: { "If-None-Match": etag } } : {})
          const isSame = before && response.status === 304
          const headers = new Headers((isSame ? before : response).headers)
          const length = Number(headers.get("content-length"))
          bytes += length
          if (bytes > maxBytes || !(isSame || response.ok)) {
            return response.body?.cancel()
          }
          if (!isSame) {
            const body = await response.blob()
            // What was compressed on the way has no length, or that of fewer bytes.
            bytes += body.size - length
            if (bytes > maxBytes) {
              return
            }
            headers.set("content-length", `${body.size}`)
            await cache.put(root + path, new Response(body, { headers }))
          }
        }
        await cache.put(root, new Response(JSON.stringify(manifest)))
      }),

    restore: () =>
      inCache(async (cache) => {
        const read = async (url: string) => (await cache.match(url)) ?? Response.error()
        const manifest = await (await cache.match(root))?.json()
        if (!manifest) {
          return undefined
        }
        const kept = new Map<string, string>()
        for (const { url } of await cache.keys()) {
          const path = url.slice(root.length)
          // The name stays at the end: it says what is a video.
          kept.set(path, `${URL.createObjectURL(await (await read(url)).blob())}#${path}`)
        }
        return { manifest, kept }
      })
  }
}
