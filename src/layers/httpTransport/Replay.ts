/**
 * The order of events for clients: which they are given, and what a gap, a new feed or a lost one makes of that.
 *
 * Pure. It decides by sequences and by what the backlog had when it was read: `Backlog.ts` reads it, `forwarding.ts` sends.
 */
import type { RememberedEvent } from "../../services/ReplayBacklog.ts"

export interface State {
  /** The latest event of each replayed name: what a client that joins is given first. */
  readonly view: ReadonlyMap<string, RememberedEvent>
  readonly feed: Feed
  /** The greatest sequence that clients have been given, in the numbering of the feed. */
  readonly shown: number
}

export type Feed =
  | { readonly _tag: "Closed" }
  /** Open, and nothing has come yet. */
  | { readonly _tag: "New" }
  | { readonly _tag: "Live"; readonly last: number }

/** What the backlog had, in its order; `undefined` if it could not be read. */
export type BacklogRead = ReadonlyArray<RememberedEvent> | undefined

export type Input =
  /** A feed has begun, and the backlog was read after that. */
  | { readonly _tag: "Opened"; readonly backlog: BacklogRead }
  /** The next event of the feed; `data` is its payload if its name is replayed. */
  | {
      readonly _tag: "Event"
      readonly name: string
      readonly sequence: number
      readonly data?: string | undefined
    }
  /** The backlog was read for what is missing in front of the event with the sequence `next`. */
  | { readonly _tag: "Repaired"; readonly next: number; readonly backlog: BacklogRead }
  /** Clients are handed an event of `Send`. */
  | { readonly _tag: "Sent"; readonly event: RememberedEvent }
  /** The backlog was read again for what was missing before. */
  | { readonly _tag: "Reread"; readonly backlog: ReadonlyArray<RememberedEvent> }
  /** The feed is lost. */
  | { readonly _tag: "Lost" }

export type Output =
  /** Clients are given the event of the input. */
  | { readonly _tag: "Forward" }
  /** Clients have been given the event of the input, or something newer in its place. */
  | { readonly _tag: "Skip" }
  /** So many events are missing in front of that of the input, which comes again after `Repaired`. */
  | { readonly _tag: "Gap"; readonly missing: number }
  /** Clients are given these, behind what they have: each is in the view only from `Sent` on, for clients that join in between. */
  | { readonly _tag: "Send"; readonly events: ReadonlyArray<RememberedEvent> }
  /** What clients have cannot be continued: all streams end, and clients that come back are given the view. */
  | { readonly _tag: "EndStreams" }

export interface Step {
  readonly state: State
  readonly output: Output
  /** Something may be missing that the backlog will have soon: it is to be read again. */
  readonly reread: boolean
}

const nothingShown = Number.NEGATIVE_INFINITY

export const initial: State = { view: new Map(), feed: { _tag: "Closed" }, shown: nothingShown }

export const step = (state: State, input: Input): Step => {
  switch (input._tag) {
    case "Opened":
      return open({ ...state, feed: { _tag: "New" } }, input.backlog)
    case "Event":
      return receive(state, input)
    case "Repaired":
      return repair(state, input.next, input.backlog)
    case "Reread": {
      const { output, state: next } = catchUp(state, input.backlog, lastOf(state) ?? Number.POSITIVE_INFINITY)
      return { state: next, output, reread: false }
    }
    case "Sent":
      return { state: withEvents(state, [input.event]), output: { _tag: "Forward" }, reread: false }
    case "Lost":
      return { state: { ...state, feed: { _tag: "Closed" } }, output: { _tag: "EndStreams" }, reread: false }
  }
}

/** The events of the view, the one emitted longest ago first. */
export const replayed = ({ view }: State): ReadonlyArray<RememberedEvent> =>
  [...view.values()].sort((one, other) => one.sequence - other.sequence)

const lastOf = ({ feed }: State): number | undefined => (feed._tag === "Live" ? feed.last : undefined)

const sequenceOf = ({ view }: State, name: string): number => view.get(name)?.sequence ?? nothingShown

const viewOf = (events: ReadonlyArray<RememberedEvent>): State["view"] =>
  new Map(events.map((event) => [event.name, event]))

/** The numbering may be another than before: only what continues the view is sent to those who have been given that. */
const open = (state: State, backlog: BacklogRead): Step => {
  if (backlog === undefined) {
    return {
      state: { ...state, view: new Map(), shown: nothingShown },
      output: { _tag: "EndStreams" },
      reread: true
    }
  }
  const { output, state: next } = isContinuedBy(state, backlog)
    ? catchUp(state, backlog, Number.POSITIVE_INFINITY)
    : { state: { ...state, view: viewOf(backlog) }, output: { _tag: "EndStreams" } as const }
  const shown = Math.max(nothingShown, ...backlog.map(({ sequence }) => sequence))
  return { state: { ...next, shown }, output, reread: false }
}

/** Whether these may be what became of the events of the view: none of them is missing, older or another. */
const isContinuedBy = ({ view }: State, backlog: ReadonlyArray<RememberedEvent>): boolean => {
  const later = viewOf(backlog)
  return [...view.values()].every(({ data, name, sequence }) => {
    const other = later.get(name)
    return (
      other !== undefined &&
      (other.sequence > sequence || (other.sequence === sequence && other.data === data))
    )
  })
}

/** Adds what is not known yet, up to a sequence. */
const catchUp = (state: State, backlog: ReadonlyArray<RememberedEvent>, upTo: number) => {
  const events = backlog.filter(
    ({ name, sequence }) => sequence <= upTo && sequence > sequenceOf(state, name)
  )
  const isInOrder = events.every(({ sequence }) => sequence > state.shown)
  return isInOrder
    ? { state, output: { _tag: "Send", events } as const, found: events.length }
    : {
        state: withEvents(state, events),
        output: { _tag: "EndStreams" } as const,
        found: events.length
      }
}

const withEvents = (state: State, events: ReadonlyArray<RememberedEvent>): State => ({
  ...state,
  view: new Map([...state.view, ...viewOf(events)]),
  shown: Math.max(state.shown, ...events.map(({ sequence }) => sequence))
})

const receive = (
  state: State,
  { data, name, sequence }: Extract<Input, { readonly _tag: "Event" }>
): Step => {
  const last = lastOf(state)
  if (last !== undefined && sequence > last + 1) {
    return { state, output: { _tag: "Gap", missing: sequence - last - 1 }, reread: false }
  }
  if (last !== undefined && sequence <= last) {
    return { state, output: { _tag: "Skip" }, reread: false }
  }
  const isKnown = sequence <= (data === undefined ? state.shown : sequenceOf(state, name))
  return {
    state: {
      view:
        isKnown || data === undefined ? state.view : new Map(state.view).set(name, { name, data, sequence }),
      feed: { _tag: "Live", last: sequence },
      shown: Math.max(state.shown, sequence)
    },
    output: { _tag: isKnown ? "Skip" : "Forward" },
    // What the bus has lost in front of the first event of a feed shows nowhere else.
    reread: last === undefined && sequence > Math.max(0, state.shown) + 1
  }
}

const repair = (state: State, next: number, backlog: BacklogRead): Step => {
  const missing = next - 1 - (lastOf(state) ?? next - 1)
  const { found, output, state: caughtUp } = catchUp(state, backlog ?? [], next - 1)
  return {
    state: { ...caughtUp, feed: { _tag: "Live", last: next - 1 } },
    output,
    reread: found < missing
  }
}
