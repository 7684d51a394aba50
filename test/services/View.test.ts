import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { fleetText } from "../../src/layers/cli/terminal/fleetText.ts"
import { makePalette, statusText } from "../../src/layers/cli/terminal/statusText.ts"
import { ContentState } from "../../src/services/Slices.ts"
import { playerStates, screenStates } from "../../src/services/screenStates.ts"
import { Health, View } from "../../src/services/View.ts"
import { player } from "../support/fleet.ts"
import { viewOf } from "../support/readState.ts"

const at = "2026-11-22T08:30:00.000Z"
const now = Date.parse("2026-11-22T09:00:00.000Z")

const lastReport = FastCheck.constant(player({ node: { id: "hall-3" }, heardAt: at, sentAt: at }))

const travelled = (view: View): View =>
  Schema.decodeUnknownSync(Schema.parseJson(View))(JSON.stringify(Schema.encodeSync(View)(view)))

describe("a view", () => {
  it("is not changed by JSON, whatever it contains", () => {
    const palette = makePalette(false)
    const text = FastCheck.fullUnicodeString({ minLength: 1, maxLength: 20 })
    const problem = FastCheck.record(
      {
        code: text,
        severity: FastCheck.constantFrom("error" as const, "warning" as const),
        text,
        subject: text,
        muted: FastCheck.record({ name: text, until: FastCheck.constant(at), by: text })
      },
      { requiredKeys: ["code", "severity", "text"] }
    )
    const common = {
      id: text,
      name: text,
      isExpected: FastCheck.boolean(),
      problems: FastCheck.array(problem, { maxLength: 3 })
    }
    const screen = FastCheck.record({
      ...common,
      word: FastCheck.constantFrom(...screenStates),
      active: FastCheck.boolean()
    })
    const playerStatus = FastCheck.record(
      { ...common, word: FastCheck.constantFrom(...playerStates), since: FastCheck.constant(at), lastReport },
      { requiredKeys: ["id", "name", "isExpected", "problems", "word"] }
    )
    const views = FastCheck.record({
      word: FastCheck.constantFrom(...Health.literals),
      problems: FastCheck.array(problem, { maxLength: 3 }),
      screens: FastCheck.array(screen, { maxLength: 3 }),
      players: FastCheck.array(playerStatus, { maxLength: 3 })
    })
    FastCheck.assert(
      FastCheck.property(views, (parts) => {
        const system = { startTime: "2026-11-22T08:00:00.000Z", mode: "persistent" } as const
        const view = { ...viewOf({ system, plugins: {} }, now), ...parts }
        const after = travelled(view)
        expect(after).toEqual(view)
        expect(statusText(after, { palette })).toBe(statusText(view, { palette }))
        expect(fleetText(after.players ?? [], { now, palette })).toBe(
          fleetText(view.players, { now, palette })
        )
      }),
      { numRuns: 40 }
    )
  })

  it("has contents that JSON does not change", () => {
    const versionId = "20261122T090000Z"
    const content = ContentState.make({
      kind: "content",
      versionId,
      generatedAt: "2026-11-22T09:00:00.000Z",
      held: { since: "2026-11-22T09:00:00.000Z", by: "anna@desk" },
      lastFetch: { timestamp: "2026-11-22T09:00:00.000Z", error: { name: "E", message: "no network" } },
      sources: {}
    })
    const system = { startTime: "2026-11-22T08:00:00.000Z", mode: "persistent" } as const
    const view = viewOf({ system, plugins: { content } }, now)
    expect(view.contents).toMatchObject([
      { name: "content", versionId, lastFetch: { failure: "no network" } }
    ])
    expect(travelled(view)).toEqual(view)
  })
})
