import { afterEach, beforeEach, expect, it, vi } from "@effect/vitest"
import { preload } from "../../../src/layers/client/preload.ts"

const loaded: Array<string> = []

class FakeImage {
  src = ""
  onerror: unknown
  oncanplay: unknown
  decode = async () => {
    loaded.push(this.src)
  }
}

/** As Chromium 90 and Firefox 91 have it. */
const signalOf = (life: AbortController) => Object.assign(life.signal, { throwIfAborted: undefined })

beforeEach(() => {
  loaded.length = 0
  vi.stubGlobal("Image", FakeImage)
  vi.stubGlobal("HTMLVideoElement", class {})
})
afterEach(() => {
  vi.unstubAllGlobals()
})

it("loads pictures in the oldest browsers that pages run in", async () => {
  const urls = Array.from({ length: 8 }, (_, index) => `${index}.jpg`)
  const media = await Reflect.apply(preload, undefined, [urls, signalOf(new AbortController())])
  expect(media.map(({ src }) => src)).toEqual(urls)
})

it("loads nothing once another version is wanted", async () => {
  const life = new AbortController()
  life.abort()
  await expect(Reflect.apply(preload, undefined, [["a.jpg"], signalOf(life)])).rejects.toThrow(
    "a.jpg cannot be loaded and shown"
  )
  expect(loaded).toEqual([])
})
