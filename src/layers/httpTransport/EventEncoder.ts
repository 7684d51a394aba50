/**
 * Events as they are sent: which are forwarded and replayed, and their payloads as JSON (docs/wire.md).
 */
import * as Effect from "effect/Effect"
import type * as Predicate from "effect/Predicate"
import { encodeJson } from "../../internal/JsonText.ts"
import { printableLine } from "../../internal/printable.ts"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import type { BusEvent } from "../../services/EventBus.ts"
import * as SseFrame from "../http/SseFrame.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"

export interface EventEncoder {
  /** Whether clients are sent events of that name. One that no frame can hold is noted for `warn`. */
  readonly isForwarded: (name: string) => boolean

  /** Whether events of that name are kept for clients that connect later. */
  readonly isReplayed: (name: string) => boolean

  /** The payload as JSON text. One that JSON cannot hold is noted for `warn`. */
  readonly data: (event: BusEvent) => string

  /** Logs what was noted, each name once. */
  readonly warn: Effect.Effect<void>
}

export const make = (options: Pick<HttpTransportOptions, "events" | "replayEvents">): EventEncoder => {
  const matches = matching(options.events)
  const replayed = new Set(options.replayEvents.filter((name) => matches(name) && SseFrame.isEventName(name)))
  const warnOfName = makeWarnOnce(
    (name) => `Events named ${shownName(name)} are not forwarded: the name has a line break or a NUL.`
  )
  const warnOfPayload = makeWarnOnce(
    (name) => `An event ${shownName(name)} has what JSON cannot hold: a placeholder is sent in its place.`
  )
  const unsendable = new Set<string>()
  const incomplete = new Set<string>()

  return {
    isForwarded: (name) => {
      if (!matches(name)) {
        return false
      }
      const isSendable = SseFrame.isEventName(name)
      if (!isSendable) {
        unsendable.add(name)
      }
      return isSendable
    },
    isReplayed: (name) => replayed.has(name),
    data: ({ name, payload }) => {
      const { isComplete, text } = encodeJson(payload)
      if (!isComplete) {
        incomplete.add(name)
      }
      return text
    },
    warn: Effect.suspend(() => {
      if (unsendable.size + incomplete.size === 0) {
        return Effect.void
      }
      const warnings = [...[...unsendable].map(warnOfName), ...[...incomplete].map(warnOfPayload)]
      unsendable.clear()
      incomplete.clear()
      return Effect.all(warnings, { discard: true })
    })
  }
}

/**
 * Accepts the names that match one of the patterns (docs/wire.md, section 2.1): a pattern that ends in `*` matches every name
 * that begins with what stands before the `*`, any other pattern only itself.
 */
export const matching = (patterns: ReadonlyArray<string>): Predicate.Predicate<string> => {
  const prefixes = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1))
  const names = new Set(patterns)
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}

/** A name as the log may show it. */
const shownName = (name: string): string => printableLine(JSON.stringify(name), 100)
