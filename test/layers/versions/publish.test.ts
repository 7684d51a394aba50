import { expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { nextVersionId } from "../../../src/layers/versions/publish.ts"
import { VersionId } from "../../../src/services/VersionStore.ts"

const noon = Date.parse("2026-11-21T12:00:00.500Z")

/** Years 2000 to 2100, in milliseconds. */
const time = FastCheck.integer({ min: 946_684_800_000, max: 4_102_444_800_000 })

it("the id of a version has the next second after 99 versions in one second", () => {
  expect(nextVersionId(noon, ["20271231T235959Z"])).toBe("20271231T235959Z-01")
  expect(nextVersionId(noon, ["20271231T235959Z-99"])).toBe("20280101T000000Z")
})

it.prop(
  "the id of a version sorts after all earlier ids, whatever the clock does",
  [FastCheck.array(FastCheck.oneof(time, FastCheck.constant(noon)), { maxLength: 300 })],
  ([times]) => {
    const ids: Array<string> = []
    for (const now of times) ids.push(nextVersionId(now, ids))
    expect(ids).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every(Schema.is(VersionId))).toBe(true)
  }
)
