import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createLogger } from "vite"
import { runCommand } from "../../../src/layers/vite/companions.ts"
import { eventually } from "../../support/waiting.ts"

describe("a command beside a dev server", () => {
  it.effect.each([
    ["its folder is gone", { cwd: "/no/such/folder", env: {} }, "ENOENT"],
    ["its environment is too large", { cwd: "/", env: { LARGE: "x".repeat(1_000_000) } }, "E2BIG"]
  ] as const)("is reported as not started if %s", ([, options, code]) =>
    Effect.gen(function* () {
      const errors: Array<string> = []
      const logger = { ...createLogger("silent"), error: (text: string) => void errors.push(text) }
      const { end } = runCommand(["start"], options, logger)
      yield* eventually(Effect.sync(() => errors.length > 0))
      yield* Effect.promise(end)
      expect(errors).toEqual([
        expect.stringMatching(`^\\[vitrine\\] vitrine start could not be started: .*${code}`)
      ])
    })
  )
})
