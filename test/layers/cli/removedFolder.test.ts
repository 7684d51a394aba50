/**
 * Commands in a working directory that has been removed.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import { says } from "../../support/says.ts"

/** What Node says then. */
const gone = Object.assign(new Error("ENOENT: no such file or directory, uv_cwd"), { syscall: "uv_cwd" })

const removed = Effect.acquireRelease(
  Effect.sync(() =>
    vi.spyOn(process, "cwd").mockImplementation(() => {
      throw gone
    })
  ),
  (spy) => Effect.sync(() => spy.mockRestore())
)

describe("in a working directory that has been removed", () => {
  const config = new URL("../../../scratchpad/exhibit/vitrine.config.ts", import.meta.url).pathname
  it.scoped.each([
    "init",
    "init exhibit",
    "status",
    "fetch",
    "types",
    `stop --config ${config} --run-dir run`
  ])("vitrine %s fails with a clear message", (line) =>
    Effect.gen(function* () {
      yield* removed
      const error = yield* Effect.flip(says(...line.split(" ")))
      expect(error).toHaveProperty(
        "message",
        "The current folder has been removed. Change to an existing folder."
      )
    }).pipe(Effect.provide(Layer.merge(NodeContext.layer, HttpClientNode.layer)))
  )
})
