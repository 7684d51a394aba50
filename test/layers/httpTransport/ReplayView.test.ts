import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as ReplayView from "../../../src/layers/httpTransport/ReplayView.ts"
import type { RememberedEvent } from "../../../src/services/ReplayBacklog.ts"
import { messages } from "../../support/eventStream.ts"

const event = (name: string, sequence: number, data = `${sequence}`): RememberedEvent => ({
  name,
  data,
  sequence
})

const shown = (view: ReplayView.ReplayView) =>
  messages(view.preamble()).map(({ data, event }) => `${event}:${data}`)

const viewOf = (...events: ReadonlyArray<RememberedEvent>) => {
  const view = ReplayView.make()
  view.replace(events)
  return view
}

describe("View", () => {
  it("begins with nothing", () => {
    const view = ReplayView.make()
    expect(Buffer.from(view.preamble()).toString()).toBe("retry: 2000\n\n")
    expect(view.sequenceOf("a")).toBe(Number.NEGATIVE_INFINITY)
    expect(view.isContinuedBy([])).toBe(true)
  })

  it.prop(
    "has the latest of each name by their sequence, in whatever order they are added",
    [
      FastCheck.array(FastCheck.constantFrom("a", "b", "__proto__"), { maxLength: 20 }).chain((names) => {
        const events = names.map((name, sequence) => event(name, sequence))
        return FastCheck.tuple(
          FastCheck.constant(events),
          FastCheck.shuffledSubarray([...events, ...events], { minLength: 2 * events.length })
        )
      })
    ],
    ([[events, added]]) => {
      const view = ReplayView.make()
      for (const event of added) {
        view.add(event)
      }
      const latest = events.filter(
        ({ name }, index) => !events.slice(index + 1).some((later) => later.name === name)
      )
      expect(shown(view)).toEqual(latest.map(({ data, name }) => `${name}:${data}`))
      for (const { name, sequence } of latest) {
        expect(view.sequenceOf(name)).toBe(sequence)
      }
    }
  )

  it("encodes its events once until something changes", () => {
    const view = viewOf(event("a", 1))
    const before = view.preamble()
    expect(view.preamble()).toBe(before)
    view.add(event("a", 1, "another"))
    view.add(event("a", 0))
    expect(view.preamble()).toBe(before)
    view.add(event("a", 2))
    expect(shown(view)).toEqual(["a:2"])
  })

  it("has other events in the place of all, also older ones", () => {
    const view = viewOf(event("a", 5), event("b", 6))
    view.replace([event("a", 1)])
    expect(shown(view)).toEqual(["a:1"])
    expect(view.sequenceOf("b")).toBe(Number.NEGATIVE_INFINITY)
  })

  it("learns what it does not know, up to a sequence, in order", () => {
    const view = viewOf(event("a", 3), event("b", 4))
    const events = [event("a", 2), event("b", 4), event("c", 5), event("a", 7), event("d", 8)]
    expect(view.learn(events, 7)).toEqual([event("c", 5), event("a", 7)])
    expect(shown(view)).toEqual(["b:4", "c:5", "a:7"])
    expect(view.learn(events, 7)).toEqual([])
  })

  it("knows what its events may have become", () => {
    const view = viewOf(event("a", 3), event("b", 4))
    for (const [events, leads] of [
      [[event("a", 3), event("b", 4)], true],
      [[event("b", 4), event("a", 5), event("c", 6)], true],
      [[event("b", 4)], false],
      [[event("a", 2), event("b", 4)], false],
      [[event("a", 3, "another"), event("b", 4)], false],
      [[], false]
    ] as const) {
      expect(view.isContinuedBy(events)).toBe(leads)
    }
    expect(shown(view)).toEqual(["a:3", "b:4"])
  })
})
