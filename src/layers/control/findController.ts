/**
 * Finds out whether a controller runs, by the lock of its folder. This works even if nothing listens at its socket:
 * while it starts or stops, or after somebody removed the socket.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { lockHolder } from "../folderLock/folderLock.ts"
import { readPidFile } from "./pidFile.ts"
import type { ControllerPaths } from "./socketPath.ts"

/** The controller of a folder, whether it runs or not. */
export interface FoundController {
  /** Whether it has the lock of its folder. */
  readonly isRunning: boolean
  /** The process id that it told, or else the one in its file. Neither is proof. */
  readonly pid: number | undefined
  /** Waits until it no longer has the lock. */
  readonly ended: Effect.Effect<void>
}

export const findController = Effect.fnUntraced(function* ({ folder, pidFile }: ControllerPaths) {
  const holder = yield* lockHolder(folder)
  const written = yield* readPidFile(pidFile)
  const toldPid = Option.flatMap(holder, ({ pid }) => pid)
  const controller: FoundController = {
    isRunning: Option.isSome(holder),
    pid: Option.getOrUndefined(Option.orElse(toldPid, () => written)),
    ended: Option.match(holder, { onNone: () => Effect.void, onSome: ({ isHeld }) => untilNot(isHeld) })
  }
  return controller
})

/** Checks every 50 milliseconds whether the condition is still true. */
const untilNot = (condition: Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.asVoid(
    Effect.repeat(condition, { until: (isTrue) => !isTrue, schedule: Schedule.spaced("50 millis") })
  )
