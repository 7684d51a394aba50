/**
 * Whether a controller runs, even where nothing listens at its socket: while it starts and ends, and where somebody has
 * removed the socket. The lock of its folder says so.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { lockHolder } from "../folderLock/folderLock.ts"
import { readPidFile } from "./pidFile.ts"
import type { ControllerPaths } from "./socketPath.ts"

/** What is known of the controller of a folder, whether it runs or not. */
export interface FoundController {
  /** Whether it has the lock of its folder. */
  readonly isRunning: boolean
  /** The process that it says it is, or has written down. Nothing proves it. */
  readonly pid: number | undefined
  /** Waits until it does not have the lock. */
  readonly ended: Effect.Effect<void>
}

export const findController = Effect.fnUntraced(function* ({ folder, pidFile }: ControllerPaths) {
  const holder = yield* lockHolder(folder)
  const written = yield* readPidFile(pidFile)
  const said = Option.flatMap(holder, ({ pid }) => pid)
  const controller: FoundController = {
    isRunning: Option.isSome(holder),
    pid: Option.getOrUndefined(Option.orElse(said, () => written)),
    ended: Option.match(holder, { onNone: () => Effect.void, onSome: ({ holds }) => untilNot(holds) })
  }
  return controller
})

/** Looks every 50 milliseconds whether the condition still holds. */
const untilNot = (condition: Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.asVoid(
    Effect.repeat(condition, { until: (holds) => !holds, schedule: Schedule.spaced("50 millis") })
  )
