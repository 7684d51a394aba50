/** Connects a page to a controller: follows the manifest, and provides complete versions. */
import { makeAcks, makePresence, renewMs } from "./acks.ts"
import { type AckAnswer, act, isReloaded } from "./actions.ts"
import { type Options, withNumbers } from "./Options.ts"
import { makeOffline } from "./offline.ts"
import { pollManifest } from "./pollManifest.ts"
import { makeRenewal, navigation } from "./renewal.ts"
import { growing, Refused, request, TimedOut, withoutSlash } from "./request.ts"
import { type Exhibit, makeState } from "./state.ts"
import { followStream } from "./stream.ts"
import { makeSwap, type Shown } from "./swap.ts"
import { isSame, type Manifest } from "./Version.ts"

/** The `/endpoint.json` of a content server with a page. */
interface Endpoint {
  readonly transport?: string
}

/** Milliseconds that a version is on the screen before the browser keeps it. */
const settledMs = 3000

/** Milliseconds between checks whether the page is drawn, the ack must be renewed, and more files must be kept. */
const lookMs = 5000

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
  const options = withNumbers(given)
  const {
    consumerId = screenName(),
    content = location.origin,
    controller,
    keepBytes,
    name = "content",
    pollEvery,
    token
  } = options
  const base = withoutSlash(content)
  const life = new AbortController()
  const { signal } = life
  const state = makeState<Loaded>()
  const offline = makeOffline(`vitrine ${location.pathname} ${base}`)
  let isReachable = false
  let isStreaming = false
  /** The last manifest. */
  let active: Manifest | undefined
  /** Why the content cannot be reached, and problems of the screen itself. */
  let trouble: string | undefined
  let problem: string | undefined
  /** Why the controller refuses acks of this screen. */
  let refusal: string | undefined
  /** The address of the transport, kept because a closing page has no time to request it, and the content server may be away. */
  let transport = controller
  let settling: Shown<Loaded> | undefined
  let timer: number

  const address = `${base}/manifest.json`

  const endpoint = async (path: string, isKnown = false) => {
    if (!isKnown) {
      transport = controller ?? (await request<Endpoint>(`${base}/endpoint.json`))?.transport
    }
    if (!transport) {
      throw new Error("The content server names no HTTP transport")
    }
    return `${withoutSlash(transport)}/${path}`
  }

  const presence = makePresence()
  let runId = randomId()
  /** Whether a link of this site or a requested reload opened the page: this is not a restart. */
  let navigated =
    isReloaded() || (navigation()?.type !== "reload" && document.referrer.startsWith(`${location.origin}/`))

  let done: ReadonlyArray<string> = []

  const acks = makeAcks(
    () => {
      const { next, version } = state.get()
      const versionId = version ? version.id : problem && next
      return versionId ? { versionId, problem, done, ...presence() } : undefined
    },
    async (ack) => {
      const url = await endpoint("command", ack.closing || !isReachable)
      const answer = await request<{ readonly result?: AckAnswer | null }>(url, {
        method: "POST",
        keepalive: !!ack.closing,
        headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
        body: JSON.stringify({
          type: `${name}.ack`,
          consumerId,
          renewMs: renewMs(ack),
          runId,
          navigated,
          ...ack
        })
      })
      if (!answer) {
        throw new Refused(`${url}: HTTP 404`)
      }
      const result = answer.result ?? {}
      // A changed ack is sent at once, also by a page that is left.
      done = result.ids ?? done
      act(result, consumerId)
    },
    (error) => {
      const reason = error instanceof Error ? error.message : error
      const text = reason ? `The controller does not hear of screen ${consumerId}: ${reason}` : undefined
      warnOfAck(text)
      refusal = error instanceof Refused ? text : undefined
      if (error instanceof TimedOut) {
        // Perhaps other windows have streams on all connections that the browser opens.
        eventStream.leave()
      }
      update()
    }
  )

  /** Saves the version, and again whenever the page has used more of its files. */
  const save = async (shown: Shown<Loaded>, saved = -1, failures = 0) => {
    const { size } = shown.used
    try {
      const reason = size > saved ? await offline.save(shown.manifest, shown.used, keepBytes) : undefined
      warnOfSave(reason && `The browser does not keep version ${shown.version.id} yet: ${reason}`)
      if (shown === settling && !signal.aborted) {
        timer = reason
          ? window.setTimeout(save, growing(failures), shown, saved, failures + 1)
          : window.setTimeout(save, lookMs, shown, size)
      }
    } catch (error) {
      warnOfCache(error)
    }
  }

  /** Keeps a version in the browser after some seconds on the screen, and tells a surrounding page that it works. */
  const settle = (shown: Shown<Loaded> | undefined) => {
    if (shown !== settling) {
      tell("shown", false)
      settling = shown
      clearTimeout(timer)
      if (shown && !shown.isCached && keepBytes > 0 && isSecureContext) {
        timer = window.setTimeout(save, settledMs, shown)
      }
    }
  }

  const update = () => {
    if (signal.aborted) {
      return
    }
    const current = swap.current()
    const { shown } = current
    problem = trouble ?? current.problem
    state.set(
      isReachable ? (isStreaming ? "live" : "polling") : "offline",
      { ...current, problem: problem ?? refusal },
      !!shown?.isCached && !isSame(active, shown.manifest)
    )
    settle(shown)
    if (isReachable || isStreaming) {
      acks.send()
    }
  }

  const renewal = makeRenewal({ ...options, content: base, signal })
  const { canSwap = () => true } = options

  const swap = makeSwap({
    ...options,
    canSwap: () => !renewal.isDue() && canSwap(),
    content: base,
    changed: update
  })

  const warnOfTrouble = makeWarnOnce()
  const warnOfAck = makeWarnOnce()
  const warnOfSave = makeWarnOnce()

  const setTrouble = (text?: string) => {
    warnOfTrouble(text)
    trouble = text
  }

  const found = (manifest: Manifest | undefined) => {
    if (!isReachable) {
      eventStream.retry()
    }
    isReachable = true
    active = manifest
    setTrouble(manifest ? undefined : `There is no content at ${address}`)
    if (manifest) {
      swap.follow(manifest)
    }
    update()
  }

  const hasContent = () => {
    const { next, shown } = swap.current()
    return next || shown
  }

  let hasRestored = false
  const restore = async () => {
    hasRestored = true
    const found = await offline.restore()
    if (found && !hasContent()) {
      swap.follow(found.manifest, found.kept)
    }
  }

  const failed = (reason: string) => {
    if (signal.aborted) {
      return
    }
    isReachable = false
    const hint = /^http|^\//.test(base) ? "" : '. Give "content", the address of the content server'
    setTrouble(`The content cannot be reached: ${reason}${hint}`)
    update()
    if (!hasRestored && !hasContent() && isSecureContext) {
      restore().catch(warnOfCache)
    }
  }

  const poll = pollManifest({ address, built: renewal.built, every: pollEvery, failed, found, signal })

  const eventStream = followStream(
    `vitrine ${name} ${controller ?? base}`,
    {
      name,
      address: () =>
        endpoint(`events?${new URLSearchParams({ consumer: consumerId, ...(token && { token }) })}`)
    },
    (stream) => {
      if (stream === `asked ${consumerId}`) {
        acks.renew()
      }
      const wasStreaming = isStreaming
      isStreaming = stream !== "lost"
      update()
      if (wasStreaming && !isStreaming) {
        // For the controller, the end of the stream looks like the end of the page.
        acks.renew()
      }
      if (isStreaming) {
        poll()
      }
    },
    signal
  )

  const looks = setInterval(() => {
    update()
    if (settling) {
      tell("shown", true)
    }
  }, lookMs)
  addEventListener(
    "pagehide",
    () => {
      tell("gone")
      acks.close()
    },
    { signal }
  )
  addEventListener(
    "pageshow",
    ({ persisted }) => {
      if (persisted) {
        // The page is back from the back/forward cache: its closed connection does not continue.
        runId = randomId()
        navigated = true
      }
      acks.open()
    },
    { signal }
  )
  for (const event of ["online", "pageshow", "visibilitychange"]) {
    addEventListener(event, update, { signal })
    addEventListener(event, poll, { signal })
  }

  return state.exhibit(() => {
    acks.close()
    life.abort()
    swap.end()
    clearTimeout(timer)
    clearInterval(looks)
  })
}

const warnOfCache = (error: unknown) => console.warn(`The browser keeps no version: ${error}`)

/** Warns once in the console until the problem ends. */
const makeWarnOnce = () => {
  let last: string | undefined
  return (text?: string) => {
    if (text && !last) {
      console.warn(text)
    }
    last = text
  }
}

/** Tells the surrounding page, for example of a kiosk, about the state; `again` if it only repeats that the page works. */
const tell = (vitrine: "shown" | "gone", again = false) => {
  if (parent !== window) {
    parent.postMessage({ vitrine, again }, "*")
  }
}

const randomId = (): string => Math.random().toString(36).slice(2, 10)

/** The name in the address of the page, or else a random name, which the tab keeps across reloads if it has storage. */
const screenName = (): string => {
  const given = new URLSearchParams(location.search).get("screen")
  if (given) {
    return given
  }
  const fresh = `screen-${randomId()}`
  try {
    const name = sessionStorage.getItem("vitrine") ?? fresh
    sessionStorage.setItem("vitrine", name)
    return name
  } catch {
    return fresh
  }
}
