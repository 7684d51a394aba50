/**
 * `vitrine status`
 */
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import { printableJson } from "../../internal/printable.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import { isHealthy, lastFetchFailure } from "../status/health.ts"
import { askController, show } from "./askController.ts"
import { chooseContent } from "./ContentCommand.ts"
import { setExitStatus } from "./processExit.ts"
import type { Options } from "./program.ts"
import { isColourful, makePalette, sizeOf, statusText } from "./terminal/statusText.ts"

export const run = (options: Options) => {
  const { check = false, content, json = false, watch = false } = options
  const palette = makePalette(isColourful(process.stdout))
  const text = Effect.gen(function* () {
    const view = yield* (yield* IpcClient).view
    if (content !== undefined) {
      yield* chooseContent(options, view.contents)
    }
    if (check) {
      const failure = lastFetchFailure(view, content)
      setExitStatus(!isHealthy(view.word) ? "failure" : failure === undefined ? "success" : "fetchFailed")
    }
    return json
      ? printableJson(Struct.pick(view, "header", "sections"), watch ? 0 : 2)
      : statusText(view, { palette, size: sizeOf(process.stdout) })
  })
  return show(askController(options)(text), watch)
}
