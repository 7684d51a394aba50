/**
 * Whether a controller runs, even where nothing listens at its socket: while it starts and ends, and where somebody has
 * removed the socket or its folder.
 */
import { lstat } from "node:fs/promises"
import { basename } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { errorCode } from "../../internal/systemError.ts"
import { lockHolder } from "../folderLock/FolderLock.ts"
import { listeningProcess } from "./listeningProcess.ts"
import { readPidFile } from "./pidFile.ts"
import type { ControllerPaths } from "./socketPath.ts"

/** What is known of the controller of a folder, whether it runs or not. */
export interface FoundController {
  /** Whether it has the lock of its folder, or is known to listen in it though the folder was removed. */
  readonly isRunning: boolean
  /** The process that it says it is. Nothing proves it. */
  readonly pid: number | undefined
  /** The process that it is, where the kernel proves it. */
  readonly process: Effect.Effect<Option.Option<number>>
  /** Waits until it does not run. */
  readonly ended: Effect.Effect<void>
}

export const findController = Effect.fnUntraced(function* ({ folder, pidFile, socket }: ControllerPaths) {
  const holder = yield* lockHolder(folder)
  const written = yield* readPidFile(pidFile)
  // First the name that no other controller ever has.
  const names = [...Option.toArray(Option.map(holder, ({ name }) => name)), basename(socket)]
  const process = Effect.map(
    Effect.forEach(names, (name) => listeningProcess(folder, name)),
    Option.firstSomeOf
  )
  // What listens in a folder that is there, and does not have its lock, is something else.
  const isRemoved = yield* Effect.promise(() => lstat(folder).then(() => false, isMissing))
  const unlocked = Option.isNone(holder) && isRemoved ? process : Effect.succeedNone
  const listening = yield* unlocked
  const controller: FoundController = {
    isRunning: Option.isSome(holder) || Option.isSome(listening),
    pid: Option.getOrUndefined(
      Option.firstSomeOf([Option.flatMap(holder, ({ pid }) => pid), listening, written])
    ),
    process,
    ended: Option.match(holder, {
      onNone: () => until(Effect.map(unlocked, Option.isNone)),
      onSome: ({ holds }) => until(Effect.negate(holds))
    })
  }
  return controller
})

const isMissing = (error: unknown) => errorCode(error) === "ENOENT"

/** Looks every 50 milliseconds whether it holds. */
export const until = (condition: Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.asVoid(Effect.repeat(condition, { until: (holds) => holds, schedule: Schedule.spaced("50 millis") }))
