/**
 * `vitrine rollback`, `vitrine hold` and `vitrine resume`
 */
import { hostname, userInfo } from "node:os"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { HoldOutcome } from "../../services/VersionStore.ts"
import * as Command from "./Command.ts"
import { type ContentCommand, contentOptions, decodeResult, runContentCommand } from "./contentCommand.ts"
import { commands } from "./overview.ts"
import type { Values } from "./Parameter.ts"
import * as Parameter from "./Parameter.ts"

/** `library` is what configurations import as `vitrine`. */
export const makeRollback = (library: object) =>
  Command.make({
    name: "rollback",
    description: commands.rollback.description,
    parameters: {
      ...contentOptions,
      version: Parameter.argument({
        name: "VERSION",
        description: "The id of a version on disk. Default: the newest that is older than the active one."
      })
    },
    run: ({ version, ...options }) =>
      undo(library, options, {
        type: "content.rollback",
        by: caller(),
        ...Option.match(version, { onNone: () => ({}), onSome: (versionId) => ({ versionId }) })
      })
  })

/** As `makeRollback`. */
export const makeHold = (library: object) =>
  Command.make({
    name: "hold",
    description: commands.hold.description,
    parameters: contentOptions,
    run: (options) => undo(library, options, { type: "content.hold", by: caller() })
  })

/** As `makeRollback`. */
export const makeResume = (library: object) =>
  Command.make({
    name: "resume",
    description: commands.resume.description,
    parameters: contentOptions,
    run: (options) => undo(library, options, { type: "content.resume" })
  })

const undo = (library: object, options: Values<typeof contentOptions>, command: ContentCommand["command"]) =>
  runContentCommand(library, options, {
    command,
    isOnDisk: true,
    interrupted: {
      there: "The controller goes on with it. See what is active with vitrine status.",
      here: "Interrupted. See what is active with vitrine versions."
    }
  }).pipe(
    Effect.flatMap(decodeResult(HoldOutcome)),
    Effect.flatMap((outcome) => Console.log(outcomeText(outcome)))
  )

const outcomeText = ({ changed, held, versionId }: HoldOutcome): string => {
  const active = `Version ${versionId} is active${changed ? " now" : ""}`
  if (held === undefined) {
    return `${active}, and is not held.`
  }
  const waiting = held.waiting === undefined ? "" : ` Version ${held.waiting} waits.`
  return `${active}, and stays until "vitrine resume".${waiting}`
}

/** `user@host`; the host alone where the system does not know the user, as in some containers. */
const caller = (): string => {
  const user = Option.liftThrowable(() => userInfo())()
  return Option.match(user, {
    onNone: hostname,
    onSome: ({ username }) => `${username}@${hostname()}`
  })
}
