/** Pictures and videos, ready to be put into a page. */

/** What was preloaded, ready to be inserted into the page: an image that is decoded, or a video. */
export type Media = HTMLImageElement | HTMLVideoElement

/** Loads images and videos, and resolves when all can be shown; rejects when one cannot, or takes longer than 30 seconds. */
export type Preload = (urls: ReadonlyArray<string>, signal: AbortSignal) => Promise<ReadonlyArray<Media>>

const atOnce = 6
const limitMs = 30_000
const capacity = 256

const isVideo = /\.(mp4|m4v|mov|webm|ogv)$/i

const load = (url: string, signal: AbortSignal): Promise<Media> =>
  new Promise((resolve, reject) => {
    const element = isVideo.test(url) ? document.createElement("video") : new Image()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", fail)
      element.oncanplay = element.onerror = null
    }
    const fail = () => {
      end()
      element.src = ""
      reject(new Error(`${url} cannot be loaded and shown`))
    }
    const succeed = () => {
      end()
      resolve(element)
    }
    const timer = setTimeout(fail, limitMs)
    signal.addEventListener("abort", fail)
    element.onerror = fail
    element.src = url
    if (element instanceof Image) {
      element.decode().then(succeed, fail)
    } else {
      element.oncanplay = succeed
      element.preload = "auto"
    }
  })

export const makePreload = () => {
  /** The one that was asked for last is the last. */
  const kept = new Map<string, Promise<Media>>()

  const keep = (url: string, media: Promise<Media>) => {
    kept.delete(url)
    kept.set(url, media)
    for (const oldest of kept.keys()) {
      if (kept.size > capacity) {
        kept.delete(oldest)
      }
    }
    return media
  }

  const get = (url: string, signal: AbortSignal) =>
    keep(
      url,
      kept.get(url) ??
        load(url, signal).catch((error) => {
          kept.delete(url)
          throw error
        })
    )

  const preload: Preload = async (urls, signal) => {
    const media: Array<Media> = []
    const waiting = urls.entries()
    const loadOthers = async () => {
      for (const [index, url] of waiting) {
        media[index] = await get(url, signal)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, loadOthers))
    return media
  }

  /** Lets go of all others. */
  const retain = (urls: Iterable<string>) => {
    const wanted = new Set(urls)
    for (const url of kept.keys()) {
      if (!wanted.has(url)) {
        kept.delete(url)
      }
    }
  }

  return { preload, retain }
}
