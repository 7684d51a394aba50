import { hostname } from "node:os"
import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { nodeId, nodeIdOf } from "../../src/internal/machine.ts"

describe("the default id of a machine", () => {
  it.each([
    ["Hall-3.museum.example", "hall-3"],
    ["KIOSK_07", "kiosk_07"],
    ["Anna’s iMac", "anna-s-imac"],
    ["-=hub=-", "hub"],
    ["", "localhost"],
    ["…", "localhost"]
  ])("is, for the host %s, %s", (hostname, id) => {
    expect(nodeIdOf(hostname)).toBe(id)
  })

  it.prop(
    "is a short plain name, whatever the name of the host is",
    [FastCheck.string({ unit: "binary" })],
    ([name]) => {
      expect(nodeIdOf(name)).toMatch(/^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/)
    }
  )

  it("comes from the name of this host", () => {
    expect(nodeId()).toBe(nodeIdOf(hostname()))
  })
})
