/**
 * The fetches so far, as a time line.
 *
 * Fetches that come to the same one after the other are one entry, which says how many they are: a controller that fetches
 * every few seconds would show nothing else.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { defined } from "../../internal/defined.ts"
import { printableLine } from "../../internal/printable.ts"
import { ContentEvent } from "../../services/ContentEvents.ts"
import type { BusEvent } from "../../services/EventBus.ts"

export interface FetchedSource {
  readonly sourceId: string
  readonly records?: number
  /** What it had when it was fetched before, where that is known. */
  readonly recordsBefore?: number
  readonly bytes?: number
  readonly durationMs?: number
  readonly error?: string
}

export interface FetchEntry {
  /** The name of the content. */
  readonly content: string
  /** When the first of them began, ISO 8601, UTC. */
  readonly startedAt: string
  /** When the last of them ended. */
  readonly endedAt?: string
  /** How many fetches these are. */
  readonly times: number
  /** `waits` is a new version while another one is held, `unknown` what ended without an event. */
  readonly outcome: "running" | "promoted" | "waits" | "unchanged" | "failed" | "unknown"
  /** Duration of the last fetch; the fields below describe that fetch too. */
  readonly durationMs?: number
  readonly versionId?: string
  readonly records?: number
  readonly error?: string
  readonly sources: ReadonlyArray<FetchedSource>
}

/** The oldest entry first; what runs is at the end. */
export type FetchHistory = ReadonlyArray<FetchEntry>

/** How many entries are kept; the oldest go. Of each, so many sources, and so much of an error. */
export const maxEntries = 200
export const maxSources = 50
export const maxError = 500

/** Applies an event; unknown events change nothing. */
export const advance = (history: FetchHistory, event: BusEvent): FetchHistory => {
  const [content = "", ...rest] = event.name.split(":")
  return Option.match(decode({ name: ["content", ...rest].join(":"), payload: event.payload }), {
    onNone: () => history,
    onSome: (decoded) => next(history, content, decoded).slice(-maxEntries)
  })
}

const decode = Schema.decodeUnknownOption(ContentEvent)

const next = (history: FetchHistory, content: string, event: ContentEvent): FetchHistory => {
  const running = history.find((entry) => entry.content === content && entry.outcome === "running")
  const others = history.filter((entry) => entry !== running)
  switch (event.name) {
    case "content:fetch:start": {
      const lost = running === undefined ? [] : [{ ...running, outcome: "unknown" } as const]
      return [...others, ...lost, started(content, event.payload.timestamp)]
    }
    case "content:source:done": {
      const { bytes, durationMs, records, sourceId } = event.payload
      const recordsBefore = recordsOf(others, content, sourceId)
      return withSource(history, running, {
        sourceId,
        records,
        ...defined({ recordsBefore }),
        bytes,
        durationMs
      })
    }
    case "content:source:error": {
      const { error, sourceId } = event.payload
      return withSource(history, running, { sourceId, error: errorText(error) })
    }
    case "content:fetch:done": {
      const { changed, durationMs, held, records, timestamp, versionId } = event.payload
      const latest = held?.waiting ?? versionId
      const isNew = held?.waiting !== undefined && held.waiting !== latestVersion(others, content)
      const outcome = changed ? "promoted" : isNew ? "waits" : "unchanged"
      return ended(others, timestamp, {
        ...(running ?? started(content, timestamp)),
        outcome,
        durationMs,
        versionId: latest,
        records
      })
    }
    case "content:fetch:error": {
      const { error, timestamp } = event.payload
      const entry = running ?? started(content, timestamp)
      return ended(others, timestamp, {
        ...entry,
        outcome: "failed",
        durationMs: Math.max(0, Date.parse(timestamp) - Date.parse(entry.startedAt)),
        error: errorText(error)
      })
    }
    default:
      return history
  }
}

const started = (content: string, startedAt: string): FetchEntry => ({
  content,
  startedAt,
  times: 1,
  outcome: "running",
  sources: []
})

const withSource = (
  history: FetchHistory,
  running: FetchEntry | undefined,
  source: FetchedSource
): FetchHistory =>
  history.map((entry) =>
    entry === running ? { ...entry, sources: [...entry.sources, source].slice(0, maxSources) } : entry
  )

/** With one that has ended, in the entry before where it came to the same. */
const ended = (others: FetchHistory, endedAt: string, entry: FetchEntry): FetchHistory => {
  const before = others.findLast(({ content }) => content === entry.content)
  return before !== undefined && isSame(before, entry)
    ? others.map((other) =>
        other === before ? { ...entry, endedAt, startedAt: before.startedAt, times: before.times + 1 } : other
      )
    : [...others, { ...entry, endedAt }]
}

const isSame = (before: FetchEntry, { error, outcome }: FetchEntry): boolean =>
  before.outcome === outcome && before.error === error && (outcome === "unchanged" || outcome === "failed")

const recordsOf = (history: FetchHistory, content: string, sourceId: string): number | undefined =>
  history
    .filter((entry) => entry.content === content)
    .flatMap(({ sources }) => sources)
    .findLast((source) => source.sourceId === sourceId && source.records !== undefined)?.records

const latestVersion = (history: FetchHistory, content: string): string | undefined =>
  history.findLast((entry) => entry.content === content && entry.versionId !== undefined)?.versionId

/** On one line: an error may have several. */
const errorText = ({ message }: { readonly message: string }): string =>
  printableLine(message.trim().replace(/\s*\n\s*/g, "; "), maxError)
