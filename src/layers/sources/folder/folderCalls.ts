/**
 * The calls of a source into its folder, two at a time. If a network share hangs, each call into it keeps one of the few
 * threads of the process until the share responds, also after the fiber of the call was interrupted.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { endedBy } from "../../../internal/Schedules.ts"
import { SourceError } from "../../../services/SourceError.ts"

const most = 2

/** A sleeping disk needs ten seconds. */
const patience = Duration.seconds(30)

export interface FolderCalls {
  /** Makes the call once fewer than two others are running. */
  readonly call: <A>(action: () => Promise<A>) => Promise<A>

  /** Fails if no call has returned for 30 seconds while calls were running. */
  readonly guard: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SourceError, R>
}

/** `directory` is for the error. */
export const makeFolderCalls = (directory: string): FolderCalls => {
  let running = 0
  /** Calls that have started or returned. */
  let progress = 0
  const waiting: Array<{ readonly start: () => void; readonly refuse: (cause: unknown) => void }> = []

  const call: FolderCalls["call"] = async (action) => {
    if (running < most) running++
    else await new Promise<void>((start, refuse) => waiting.push({ start, refuse }))
    progress++
    try {
      return await action()
    } finally {
      progress++
      const next = waiting.shift()
      if (next === undefined) running--
      else next.start()
    }
  }

  const silence = Effect.gen(function* () {
    let before: number
    do {
      before = progress
      yield* Effect.sleep(patience)
    } while (running === 0 || progress > before)
    const detail =
      "this folder has not responded for 30 seconds, so its changes are not shown. Is its disk or network share connected?"
    const error = new SourceError({ place: directory, detail, isTransient: true })
    for (const { refuse } of waiting.splice(0)) refuse(error)
    return yield* error
  })

  return { call, guard: endedBy(silence) }
}
