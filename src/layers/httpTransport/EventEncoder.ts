/**
 * Decides which events are forwarded and replayed, and encodes their payloads as JSON (docs/wire.md).
 */
import * as Effect from "effect/Effect"
import type * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import { encodeJson } from "../../internal/jsonText.ts"
import { printableLine } from "../../internal/printable.ts"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import type { BusEvent } from "../../services/EventBus.ts"
import * as SseFrame from "../http/SseFrame.ts"

export interface EventEncoder {
  /** Whether events with this name are sent to clients. A name that cannot be sent is logged once. */
  readonly isForwarded: (name: string) => boolean

  /** Whether events with this name are kept for clients that connect later. */
  readonly isReplayed: (name: string) => boolean

  /** The payload as JSON text. A payload that JSON cannot represent is logged once for each name. */
  readonly data: (event: BusEvent) => string
}

export interface Options {
  /** Patterns as for `matching`. */
  readonly events: ReadonlyArray<string>
  readonly replayEvents: ReadonlyArray<string>
  /** Why events with this name cannot be sent to the clients; `undefined` if they can. */
  readonly unsendable: (name: string) => string | undefined
}

export const make = Effect.fnUntraced(function* ({ events, replayEvents, unsendable }: Options) {
  const log = Runtime.runFork(yield* Effect.runtime())
  const matches = matching(events)
  const replayed = new Set(replayEvents.filter((name) => matches(name) && unsendable(name) === undefined))
  const warnOfName = makeWarnOnce(
    (name) => `Events named ${shownName(name)} are not forwarded: ${unsendable(name)}.`
  )
  const warnOfPayload = makeWarnOnce(
    (name) =>
      `An event ${shownName(name)} contains a value that JSON cannot represent: a placeholder is sent instead.`
  )

  const encoder: EventEncoder = {
    isForwarded: (name) => {
      if (!matches(name)) {
        return false
      }
      const isSendable = unsendable(name) === undefined
      if (!isSendable) {
        log(warnOfName(name))
      }
      return isSendable
    },
    isReplayed: (name) => replayed.has(name),
    data: ({ name, payload }) => {
      const { isComplete, text } = encodeJson(payload)
      if (!isComplete) {
        log(warnOfPayload(name))
      }
      return text
    }
  }
  return encoder
})

/**
 * Accepts the names that match one of the patterns (docs/wire.md, section 2.1): a pattern that ends in `*` matches every name
 * that begins with the text before the `*`, any other pattern only itself.
 */
export const matching = (patterns: ReadonlyArray<string>): Predicate.Predicate<string> => {
  const prefixes = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1))
  const names = new Set(patterns)
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}

/** Why events with this name cannot be sent to any client; `undefined` if they can. */
export const unframeable = (name: string): string | undefined =>
  SseFrame.isEventName(name) ? undefined : "the name has a line break or a NUL"

/** Why events with this name cannot be sent to pages; `undefined` if they can. */
export const unsendable = (name: string): string | undefined =>
  name === "error" || name === "open"
    ? "EventSource in a page has its own event with this name, and the page would believe that the connection is lost"
    : unframeable(name)

/** A name for the log: printable and at most 100 characters. */
const shownName = (name: string): string => printableLine(JSON.stringify(name), 100)
