import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { layer } from "../../src/layers/ControllerStateMemory.ts"
import { ControllerState } from "../../src/services/ControllerState.ts"
import { controllerStateContract } from "../services/ControllerState.contract.ts"
import { withLog } from "../support/logged.ts"

controllerStateContract("ControllerStateMemory", layer)

describe("ControllerStateMemory", () => {
  it.scoped("logs which section could not be built", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const { addSection, status } = yield* ControllerState
      yield* addSection({ name: "disk", title: "Disk", rows: Effect.fail("full") })
      yield* withLog(lines)(status)
      expect(lines).toEqual([expect.stringMatching(/^WARN The status section "disk" could not be built/)])
    }).pipe(Effect.provide(layer("persistent")))
  )
})
