/** Pictures and videos, ready to be put into a page. */

/** What was preloaded, ready to be inserted into the page: an image that is decoded, or a video. */
export type Media = HTMLImageElement | HTMLVideoElement

/** Loads images and videos, and resolves when all can be shown; rejects when one cannot, or takes longer than 30 seconds. */
export type Preload = (urls: ReadonlyArray<string>, signal: AbortSignal) => Promise<ReadonlyArray<Media>>

const atOnce = 6
const limitMs = 30_000

const isVideo = /\.(mp4|m4v|mov|webm|ogv)$/i

/** An element that can show what is at the address, and does not yet. */
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
      // An image is left to finish: Chromium keeps one for ever whose source goes while it is decoded.
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

/** Nothing of it is kept here: what is loaded again comes from the browser's cache, and what is decoded goes with its elements. */
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
