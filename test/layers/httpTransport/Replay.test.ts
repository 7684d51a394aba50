import { describe, expect, it } from "@effect/vitest"
import * as Replay from "../../../src/layers/httpTransport/Replay.ts"
import type { RememberedEvent } from "../../../src/services/ReplayBacklog.ts"

const event = (name: string, sequence: number, data = `${sequence}`): RememberedEvent => ({
  name,
  data,
  sequence
})

/** A step, and the events that it sends, sent. */
const stepAndSend = ({ state }: { readonly state: Replay.State }, input: Replay.Input): Replay.Step => {
  const step = Replay.step(state, input)
  const sent = step.output._tag === "Send" ? step.output.events : []
  return {
    ...step,
    state: sent.reduce((state, event) => Replay.step(state, { _tag: "Sent", event }).state, step.state)
  }
}

/** After these inputs, with the last step. */
const stepAfter = (...inputs: ReadonlyArray<Replay.Input>) =>
  inputs.reduce(stepAndSend, {
    state: Replay.initial,
    output: { _tag: "Skip" },
    reread: false
  } as Replay.Step)

const opened = (...backlog: ReadonlyArray<RememberedEvent>): Replay.Input => ({ _tag: "Opened", backlog })
const live = (sequence: number): Replay.Input => ({ _tag: "Event", name: "live", sequence })
const replayed = (name: string, sequence: number): Replay.Input => ({
  _tag: "Event",
  name,
  sequence,
  data: `${sequence}`
})
const lost: Replay.Input = { _tag: "Lost" }

const viewOf = ({ state }: Replay.Step) => Replay.replayed(state).map(({ data, name }) => `${name}:${data}`)

describe("Replay", () => {
  it("ends the streams if events that are found are older than those already sent", () => {
    const step = stepAfter(opened(), live(1), live(2), live(3), { _tag: "Reread", backlog: [event("a", 2)] })
    expect(step.output).toEqual({ _tag: "EndStreams" })
    expect(viewOf(step)).toEqual(["a:2"])
  })

  it("skips events that the backlog already had when the feed began", () => {
    const step = stepAfter(opened(event("a", 2)), replayed("a", 2))
    expect(step.output).toEqual({ _tag: "Skip" })
    expect(Replay.step(step.state, live(3)).output).toEqual({ _tag: "Forward" })
  })

  it("ends the streams when the feed is lost, and keeps the events for replay", () => {
    const step = stepAfter(opened(), replayed("a", 1), lost)
    expect(step.output).toEqual({ _tag: "EndStreams" })
    expect(viewOf(step)).toEqual(["a:1"])
  })

  it("continues with a new feed if its backlog follows the last one, and ends the streams otherwise", () => {
    const before = [opened(), replayed("a", 3), replayed("b", 4), lost]
    for (const [backlog, output] of [
      [[event("a", 3), event("b", 4)], { _tag: "Send", events: [] }],
      [
        [event("b", 4), event("a", 5), event("c", 6)],
        { _tag: "Send", events: [event("a", 5), event("c", 6)] }
      ],
      [[event("b", 4)], { _tag: "EndStreams" }],
      [[event("a", 2), event("b", 4)], { _tag: "EndStreams" }],
      [[event("a", 3, "another"), event("b", 4)], { _tag: "EndStreams" }],
      [[], { _tag: "EndStreams" }]
    ] as const) {
      const step = stepAfter(...before, opened(...backlog))
      expect(step.output).toEqual(output)
      expect(Replay.replayed(step.state)).toEqual(backlog)
    }
  })

  it("forgets its events if the backlog of a new feed cannot be read", () => {
    const step = stepAfter(opened(), replayed("a", 3), lost, { _tag: "Opened", backlog: undefined })
    expect(step).toMatchObject({ output: { _tag: "EndStreams" }, reread: true })
    expect(viewOf(step)).toEqual([])
    const later = Replay.step(step.state, { _tag: "Reread", backlog: [event("a", 1)] })
    expect(later.output).toEqual({ _tag: "Send", events: [event("a", 1)] })
  })
})
