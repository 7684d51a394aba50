import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { isRunning } from "../../../src/layers/commandLine/isRunning.ts"
import * as Received from "../../support/Received.ts"
import { eventually } from "../../support/waiting.ts"

const run = (program: string, ...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

describe("a process", () => {
  it.scopedLive("runs until it has ended", () =>
    Effect.gen(function* () {
      const child = yield* run("sleep", "1000")
      const pid = child.pid ?? 0
      expect(isRunning(pid)).toBe(true)
      child.kill("SIGKILL")
      yield* Effect.promise(() => once(child, "exit"))
      expect(isRunning(pid)).toBe(false)
    })
  )

  it.scopedLive.skipIf(process.platform !== "linux")("does not run where nobody has asked how it ended", () =>
    Effect.gen(function* () {
      const parent = yield* run("sh", "-c", "sleep 1000 & echo $!; exec sleep 1000")
      const said = Received.make()
      parent.stdout.on("data", said.append)
      const pid = Number(yield* said.until((text) => text.includes("\n")))
      // The shell would ask; what it becomes does not.
      yield* eventually(Effect.sync(() => readFileSync(`/proc/${parent.pid}/comm`, "utf8") === "sleep\n"))
      expect(isRunning(pid)).toBe(true)
      process.kill(pid, "SIGKILL")
      yield* eventually(Effect.sync(() => !isRunning(pid)))
      expect(process.kill(pid, 0)).toBe(true)
    })
  )

  it("runs that belongs to somebody else", () => {
    expect(isRunning(1)).toBe(true)
  })
})
