/**
 * Keeps the version on the screen in the browser's Cache Storage, so that the page can start without a controller.
 *
 * New files are written beside the files of the version before; unchanged files are reused. The manifest is replaced last, in one
 * step, and lists the place of each file: until then, the version before can be restored. While it saves a version, the browser
 * keeps up to twice `maxBytes`.
 */
import { limited } from "./request.ts"
import type { Manifest } from "./Version.ts"

const root = "https://vitrine.invalid/"

/** Milliseconds that a request may take: other tabs wait for it. */
const limitMs = 60_000

/** The manifest of a complete version, and the cache keys of its files, by their paths. */
interface Saved extends Manifest {
  readonly keys?: Readonly<Record<string, string>>
}

export interface Offline {
  /**
   * Keeps the files of a version, by their paths and addresses, and removes the version before. Does not keep a version above the
   * limit. If a request fails, resolves with the reason: the next call with the same files continues with this request.
   */
  readonly save: (
    manifest: Manifest,
    files: ReadonlyMap<string, string>,
    maxBytes: number
  ) => Promise<string | undefined>
  /** The saved version, if there is one: the manifest, and addresses of the files by their paths. */
  readonly restore: () => Promise<
    { readonly manifest: Manifest; readonly kept: ReadonlyMap<string, string> } | undefined
  >
}

const lengthOf = ({ headers }: Response): number => Number(headers.get("content-length"))

/** A file with its length: `before` if it is unchanged, or nothing if there is no room. */
const load = (url: string, before: Response | undefined, room: number) =>
  limited(
    async (signal) => {
      const etag = before?.headers.get("etag")
      const response = await fetch(url, { headers: etag ? { "If-None-Match": etag } : {}, signal })
      if (before && response.status === 304) {
        return before
      }
      if (!response.ok) {
        throw new Error(`HTTP ${response.status}`)
      }
      if (lengthOf(response) > room) {
        return undefined
      }
      const body = await response.blob()
      const headers = new Headers(response.headers)
      // A compressed response has no length, or the length of the compressed bytes.
      headers.set("content-length", `${body.size}`)
      return new Response(body, { headers })
    },
    undefined,
    limitMs
  )

/** Removes all other files. */
const keepOnly = async (cache: Cache, keys: Iterable<string>) => {
  const kept = new Set([root, ...keys])
  for (const { url } of await cache.keys()) {
    if (!kept.has(url)) {
      await cache.delete(url)
    }
  }
}

/** Every call fails if the page may not use the storage. */
export const makeOffline = (name: string): Offline => {
  /** The files of the last call, and the keys of the files that were saved. */
  let wanted: ReadonlyMap<string, string> | undefined
  let keys = new Map<string, string>()

  /** One tab at a time. */
  const inCache = async <A>(use: (cache: Cache, saved: Saved | undefined) => Promise<A>): Promise<A> =>
    navigator.locks.request(`${name} cache`, async () => {
      const cache = await caches.open(name)
      // A power cut may damage it: then it is saved anew.
      return use(cache, await (await cache.match(root))?.json().catch(() => {}))
    })

  return {
    save: (manifest, files, maxBytes) =>
      inCache(async (cache, saved) => {
        const before = new Map(Object.entries(saved?.keys ?? {}))
        keys = files === wanted ? keys : new Map()
        wanted = files
        await keepOnly(cache, [...before.values(), ...keys.values()])
        const find = async (key: string | undefined) => (key ? cache.match(key) : undefined)
        let room = maxBytes
        for (const [path, url] of files) {
          const known = await find(keys.get(path))
          const kept = await find(before.get(path))
          let file = known
          try {
            file ??= await load(url, kept, room)
          } catch (error) {
            return `${url}: ${error}`
          }
          if (!file || lengthOf(file) > room) {
            await keepOnly(cache, before.values())
            return undefined
          }
          room -= lengthOf(file)
          if (file !== known) {
            const key = (file === kept && before.get(path)) || `${root}${Math.random()}/${path}`
            keys.set(path, key)
            if (file !== kept) {
              await cache.put(key, file)
            }
          }
        }
        await cache.put(root, new Response(JSON.stringify({ ...manifest, keys: Object.fromEntries(keys) })))
        await keepOnly(cache, keys.values())
        return undefined
      }),

    restore: () =>
      inCache(async (cache, saved) => {
        if (!saved?.keys) {
          return undefined
        }
        const kept = new Map<string, string>()
        for (const [path, key] of Object.entries(saved.keys)) {
          const file = await cache.match(key)
          if (file) {
            // The name stays at the end: its extension identifies videos.
            kept.set(path, `${URL.createObjectURL(await file.blob())}#${path}`)
          }
        }
        return { manifest: saved, kept }
      })
  }
}
