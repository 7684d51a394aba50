/**
 * A configuration file that changes while the controller runs with what it was.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Schedule from "effect/Schedule"
import { ControllerState } from "../../services/ControllerState.ts"

/**
 * Looks every ten seconds, until the scope ends, whether the file has another text than it had when it was loaded; then the
 * log and the status say so. A file that cannot be read has not changed.
 */
export const reportChange = Effect.fnUntraced(function* (file: string, loaded: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { addSection } = yield* ControllerState
  const hasChanged = fs.readFileString(file).pipe(
    Effect.map((text) => text !== loaded),
    Effect.orElseSucceed(() => false)
  )
  const said = (name: string) =>
    `${name} has changed since the start: it takes effect when the controller is restarted.`
  yield* hasChanged.pipe(
    Effect.repeat({ until: identity<boolean>, schedule: Schedule.spaced("10 seconds") }),
    Effect.zipRight(Effect.logWarning(said(file))),
    Effect.zipRight(
      addSection({
        name: "configuration",
        title: "Configuration",
        order: 90,
        rows: Effect.succeed([{ type: "text", text: said(path.basename(file)), tone: "warn" }])
      })
    ),
    Effect.forkScoped
  )
})
