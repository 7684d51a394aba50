/**
 * What a client is given first: the events that are replayed, as far as they are known here.
 *
 * It owns the comparison with the backlog. When the backlog is read, and who is given what is new in it, belongs to
 * `Replay`.
 */
import { makeLatestEvents } from "../../internal/latestEvents.ts"
import type { RememberedEvent } from "../../services/ReplayBacklog.ts"
import * as SseFrame from "./SseFrame.ts"

export interface ReplayView {
  /** The sequence of the latest event of the name; minus infinity where there is none. */
  readonly sequenceOf: (name: string) => number
  readonly add: (event: RememberedEvent) => void
  /** Puts other events in the place of all. */
  readonly replace: (events: ReadonlyArray<RememberedEvent>) => void
  /** Whether these may be what became of the events here: none of them is missing, older or another. */
  readonly isContinuedBy: (events: ReadonlyArray<RememberedEvent>) => boolean
  /** Adds those that are not known here, up to a sequence, and gives them in their order. */
  readonly learn: (events: ReadonlyArray<RememberedEvent>, upTo: number) => ReadonlyArray<RememberedEvent>
  /** `retry` and the events, as frames. The same bytes until something changes. */
  readonly preamble: () => Uint8Array
}

export const make = (): ReplayView => {
  let latest = makeLatestEvents<RememberedEvent>()
  let encoded = latest.inOrder()
  let preamble: Uint8Array = Buffer.from(SseFrame.retry)

  const sequenceOf = (name: string) => latest.sequenceOf(name)

  return {
    sequenceOf,
    add: (event) => {
      latest.add(event)
    },
    replace: (events) => {
      latest = makeLatestEvents(events)
    },
    isContinuedBy: (events) => {
      const later = new Map(events.map((event) => [event.name, event]))
      return latest.inOrder().every(({ data, name, sequence }) => {
        const other = later.get(name)
        return (
          other !== undefined &&
          (other.sequence > sequence || (other.sequence === sequence && other.data === data))
        )
      })
    },
    learn: (events, upTo) =>
      events.filter(
        (event) => event.sequence <= upTo && event.sequence > sequenceOf(event.name) && latest.add(event)
      ),
    preamble: () => {
      const events = latest.inOrder()
      if (events !== encoded) {
        encoded = events
        preamble = Buffer.from(
          SseFrame.retry + events.map(({ data, name }) => SseFrame.event(name, data)).join("")
        )
      }
      return preamble
    }
  }
}
