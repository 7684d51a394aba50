/** Connects a page to a controller: follows the manifest, and provides complete versions. */
import { followController } from "./followController.ts"
import { type Options, withNumbers } from "./Options.ts"
import { makeOffline } from "./offline.ts"
import { pollManifest } from "./pollManifest.ts"
import { makeRenewal } from "./renewal.ts"
import { withoutSlash } from "./request.ts"
import { lookMs, makeSettle, tell, warnOfCache } from "./settle.ts"
import { type Exhibit, makeState } from "./state.ts"
import { makeSwap } from "./swap.ts"
import { isSame, type Manifest } from "./Version.ts"
import { makeWarnOnce } from "./warnOnce.ts"

/**
 * Shows the active version of a controller's content, and each later version.
 *
 * The manifest is polled; events only start the next poll earlier. A version is loaded completely before it is shown. If another
 * version is active by then, it is never shown. Failures are retried for ever, after pauses that grow to 30 seconds.
 *
 * @since 0.1.0
 * @category constructors
 */
export const connect = <Loaded>(given: Options<Loaded>): Exhibit<Loaded> => {
  const life = new AbortController()
  const { signal } = life
  const content = withoutSlash(given.content ?? location.origin)
  const options = { ...withNumbers(given), content, signal }
  const { canSwap } = given
  const state = makeState<Loaded>()
  const offline = makeOffline(`vitrine ${location.pathname} ${content}`)
  const settle = makeSettle<Loaded>(offline, options.keepBytes, signal)
  const warn = makeWarnOnce()
  let isReachable = false
  let isStreaming = false
  /** The last manifest. */
  let active: Manifest | undefined
  /** Why the content cannot be reached, and why the controller refuses acks of this screen. */
  let trouble: string | undefined
  let refusal: string | undefined
  let hasRestored = false

  const update = () => {
    if (signal.aborted) {
      return
    }
    const current = swap.current()
    const { next, shown } = current
    const problem = trouble ?? current.problem
    state.set(
      isReachable ? (isStreaming ? "live" : "polling") : "offline",
      { ...current, problem: problem ?? refusal },
      !!shown?.isCached && !isSame(active, shown.manifest)
    )
    settle(shown)
    const versionId = shown ? shown.version.id : problem && next
    controller.report(
      versionId ? { versionId, problem: problem ?? renewal.problem() } : undefined,
      isReachable
    )
  }

  const renewal = makeRenewal(options)
  const swap = makeSwap({
    ...options,
    canSwap: () => !renewal.isDue() && (!canSwap || canSwap()),
    changed: update
  })

  const found = (manifest: Manifest | undefined) => {
    if (!isReachable) {
      controller.retry()
    }
    isReachable = true
    active = manifest
    trouble = warn(manifest ? undefined : `There is no content at ${content}/manifest.json`)
    if (manifest) {
      swap.follow(manifest)
    }
    update()
  }

  const restore = async () => {
    hasRestored = true
    const saved = await offline.restore()
    if (saved && swap.isEmpty()) {
      swap.follow(saved.manifest, saved.kept)
    }
  }

  const failed = (reason: string) => {
    if (signal.aborted) {
      return
    }
    isReachable = false
    const hint = /^http|^\//.test(content) ? "" : '. Give "content", the address of the content server'
    trouble = warn(`The content cannot be reached: ${reason}${hint}`)
    update()
    if (!hasRestored && swap.isEmpty() && isSecureContext) {
      restore().catch(warnOfCache)
    }
  }

  const poll = pollManifest({ ...options, built: renewal.built, failed, found })

  const controller = followController(options, poll, (streaming, reason) => {
    isStreaming = streaming
    refusal = reason
    update()
  })

  const looks = setInterval(() => {
    update()
    if (swap.current().shown) {
      tell("shown", true)
    }
  }, lookMs)
  for (const event of ["online", "pageshow", "visibilitychange"]) {
    addEventListener(event, update, { signal })
    addEventListener(event, poll, { signal })
  }

  return state.exhibit(() => {
    controller.close()
    life.abort()
    swap.end()
    clearInterval(looks)
  })
}
