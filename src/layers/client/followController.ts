/** Follows the controller: its event stream, the acks of this screen, and the actions that it asks for. */
import { type Ack, makeAcks, makePresence, renewMs } from "./acks.ts"
import { type AckAnswer, act, isReloaded } from "./actions.ts"
import type { Options } from "./Options.ts"
import { navigation } from "./renewal.ts"
import { messageOf, Refused, request, TimedOut, withoutSlash } from "./request.ts"
import { randomId, screenName } from "./screenName.ts"
import { tell } from "./settle.ts"
import { followStream } from "./stream.ts"
import { makeWarnOnce } from "./warnOnce.ts"

export interface ControllerOptions
  extends Pick<Options<never>, "consumerId" | "controller" | "name" | "token"> {
  /** The address of the content. */
  readonly content: string
  readonly signal: AbortSignal
}

/** The version on the screen, and its problem. */
export type Showing = Pick<Ack, "versionId" | "problem">

export interface Controller {
  /** Sends an ack if the controller can be reached, and the ack has changed or is due. */
  readonly report: (showing: Showing | undefined, isReachable: boolean) => void
  /** Opens a lost stream at once. */
  readonly retry: () => void
  /** Reports that the page closes. */
  readonly close: () => void
}

/**
 * Until the signal is aborted. Calls `renewed` when there may be a new version or a new build of the page. Calls `changed` after each
 * ack, and when the stream is open or lost; the refusal is why the controller refuses acks of this screen.
 */
export const followController = (
  { consumerId = screenName(), content, controller, name = "content", signal, token }: ControllerOptions,
  renewed: () => void,
  changed: (isStreaming: boolean, refusal: string | undefined) => void
): Controller => {
  let showing: Showing | undefined
  let isReachable = false
  let isStreaming = false
  let refusal: string | undefined
  /** This start of the page. */
  const run = { runId: randomId(), navigated: wasNavigated() }
  /** The ids of the last actions. A changed ack is sent at once, also by a page that is left. */
  let done: ReadonlyArray<string> = []
  const presence = makePresence()
  const warn = makeWarnOnce()
  const endpoint = makeEndpoint(content, controller)

  const acks = makeAcks(
    () => showing && { ...showing, done, ...presence() },
    async (ack) => {
      const url = await endpoint("command", ack.closing || !isReachable)
      const type = `${name}.ack`
      const result = await post(url, token, { type, consumerId, renewMs: renewMs(ack), ...run, ...ack })
      done = result.ids ?? done
      act(result, consumerId)
    },
    (error) => {
      const text = warn(
        error ? `The controller does not hear of screen ${consumerId}: ${messageOf(error)}` : undefined
      )
      refusal = error instanceof Refused ? text : undefined
      if (error instanceof TimedOut) {
        // Perhaps other windows have streams on all connections that the browser opens.
        leave()
      }
      changed(isStreaming, refusal)
    }
  )

  const address = () =>
    endpoint(`events?${new URLSearchParams({ consumer: consumerId, ...(token && { token }) })}`)

  const { leave, retry } = followStream(
    `vitrine ${name} ${controller ?? content}`,
    { name, address },
    (stream) => {
      if (stream === `asked ${consumerId}`) {
        acks.renew()
      }
      const wasStreaming = isStreaming
      isStreaming = stream !== "lost"
      changed(isStreaming, refusal)
      if (isStreaming) {
        renewed()
      } else if (wasStreaming) {
        // For the controller, the end of the stream looks like the end of the page.
        acks.renew()
      }
    },
    signal
  )

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
        run.runId = randomId()
        run.navigated = true
      }
      acks.open()
    },
    { signal }
  )

  return {
    report: (now, canReach) => {
      showing = now
      isReachable = canReach
      if (isReachable || isStreaming) {
        acks.send()
      }
    },
    retry,
    close: acks.close
  }
}

/** Whether a link of this site or a requested reload opened the page: this is not a restart. */
const wasNavigated = () =>
  isReloaded() || (navigation()?.type !== "reload" && document.referrer.startsWith(`${location.origin}/`))

/** Posts an ack. */
const post = async (
  url: string,
  token: string | undefined,
  ack: Pick<Ack, "closing"> & Readonly<Record<string, unknown>>
): Promise<AckAnswer> => {
  const answer = await request<{ readonly result?: AckAnswer | null }>(url, {
    method: "POST",
    keepalive: !!ack.closing,
    headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(ack)
  })
  if (!answer) {
    throw new Refused(`${url}: HTTP 404`)
  }
  return answer.result ?? {}
}

/** Addresses of the transport. Fails if the content server names none. `isKnown` is whether the last address must do. */
const makeEndpoint = (content: string, controller: string | undefined) => {
  // A closing page has no time to request the address, and the content server may be away.
  let transport = controller
  return async (path: string, isKnown = false) => {
    if (!isKnown) {
      transport = controller ?? (await request<Endpoint>(`${content}/endpoint.json`))?.transport
    }
    if (!transport) {
      throw new Error("The content server names no HTTP transport")
    }
    return `${withoutSlash(transport)}/${path}`
  }
}

/** The `/endpoint.json` of a content server with a page. */
interface Endpoint {
  readonly transport?: string
}
