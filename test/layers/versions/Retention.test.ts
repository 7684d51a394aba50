import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { expired } from "../../../src/layers/versions/Retention.ts"

const versions = FastCheck.array(
  FastCheck.record({
    active: FastCheck.boolean(),
    isWaiting: FastCheck.boolean(),
    isRead: FastCheck.boolean(),
    isShown: FastCheck.boolean()
  }),
  { maxLength: 12 }
).map((versions) =>
  versions.map(({ active, isRead, isShown, isWaiting }, index) => {
    const versionId = `20261121T1200${String(index).padStart(2, "0")}Z`
    return {
      versionId,
      active,
      isWaiting,
      isRead,
      leases: isShown ? [{ consumerId: "screen-1", versionId, until: 1, heardAt: 0, isSilent: true }] : []
    }
  })
)

describe("a version at a sweep", () => {
  it.prop(
    "is removed if it is not new, active or recently active, waiting, shown, or one of four that are read",
    [versions, FastCheck.integer({ min: 0, max: 6 })],
    ([versions, keepVersions]) => {
      const read = versions.filter(({ isRead }) => isRead).map(({ versionId }) => versionId)
      const removed = new Set(expired(versions, keepVersions, read))
      let readers = 4
      const active = versions.findIndex((version) => version.active)
      versions.forEach((version, index) => {
        const isNew = index >= versions.length - keepVersions
        const isShortlyBefore = index <= active && index > active - keepVersions
        const isUnneeded =
          !isNew && !isShortlyBefore && !version.active && !version.isWaiting && version.leases.length === 0
        const isKept = !isUnneeded || (version.isRead && readers-- > 0)
        expect(removed.has(version)).toBe(!isKept)
      })
    }
  )
})
