import { execFile } from "node:child_process"
import { pathToFileURL } from "node:url"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

/** A signal that has been sent, and whose handler was not called yet, when signals are about to end the process at once. */
const program = `
import * as Effect from "effect/Effect"
import { withoutSignalHandlers } from ${JSON.stringify(pathToFileURL("dist/layers/cli/processExit.js"))}

process.once("SIGTERM", () => console.log("heard"))
process.kill(process.pid, "SIGTERM")
await Effect.runPromise(withoutSignalHandlers(Effect.void))
`

it.live("a signal just before the configuration is loaded ends the process", () =>
  Effect.gen(function* () {
    const said = yield* Effect.async<string>((resume) => {
      execFile(process.execPath, ["--input-type=module", "--eval", program], (_, stdout) =>
        resume(Effect.succeed(stdout))
      )
    })
    expect(said).toBe("heard\n")
  })
)
