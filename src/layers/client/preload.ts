/** Loads pictures and videos before they are put into a page. */

/**
 * A preloaded element, ready for the page: a decoded image, or a video.
 *
 * @since 0.1.0
 * @category models
 */
export type Media = HTMLImageElement | HTMLVideoElement

/**
 * Loads images and videos, and resolves when all can be shown. Rejects if one fails, or takes longer than 30 seconds.
 *
 * @since 0.1.0
 * @category models
 */
export type Preload = (urls: ReadonlyArray<string>, signal: AbortSignal) => Promise<ReadonlyArray<Media>>

const atOnce = 6
const limitMs = 30_000

const isVideo = /\.(mp4|m4v|mov|webm|ogv)$/i

/** An element for the file at the address, not loaded yet. */
export const elementFor = (url: string): Media =>
  isVideo.test(url) ? document.createElement("video") : new Image()

const load = (url: string, signal: AbortSignal): Promise<Media> =>
  new Promise((resolve, reject) => {
    const element = elementFor(url)
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", fail)
      element.oncanplay = element.onerror = null
    }
    const fail = () => {
      end()
      // Lets an image finish: Chromium keeps an image for ever if its source is removed while it is decoded.
      if (element instanceof HTMLVideoElement) {
        element.src = ""
      }
      reject(new Error(`${url} cannot be loaded and shown`))
    }
    const succeed = () => {
      end()
      resolve(element)
    }
    const timer = setTimeout(fail, limitMs)
    signal.addEventListener("abort", fail)
    if (signal.aborted) {
      return fail()
    }
    element.onerror = fail
    element.src = url
    if (element instanceof Image) {
      element.decode().then(succeed, fail)
    } else {
      element.oncanplay = succeed
      element.preload = "auto"
    }
  })

/** Keeps nothing: files that are loaded again come from the browser's cache, and decoded data is freed with its elements. */
export const preload: Preload = async (urls, signal) => {
  const media: Array<Media> = []
  const waiting = urls.entries()
  const loadOthers = async () => {
    for (const [index, url] of waiting) {
      media[index] = await load(url, signal)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, loadOthers))
  return media
}
