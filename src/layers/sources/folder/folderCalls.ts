/**
 * The calls of a source into its folder, two at a time. If a network share hangs, each call into it keeps one of the few
 * threads of the process until the share responds, also after its caller was told that the share hangs.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { monotonicMillis, unsafeMonotonicMillis } from "../../../internal/monotonicMillis.ts"
import { SourceError } from "../../../services/SourceError.ts"

const most = 2

/** A sleeping disk needs ten seconds. In milliseconds. */
const patience = Duration.toMillis("30 seconds")

/**
 * Makes the call once fewer than two others are running. Rejects with a `SourceError` if no call has returned for 30
 * seconds. The calls of the next second are refused too: a fetch that fails must not wait again for its next call.
 */
export type FolderCall = <A>(action: () => Promise<A>) => Promise<A>

/**
 * `directory` is for the error. One fiber watches all calls until the scope ends: a fiber for each look is half the cost
 * of a look.
 */
export const makeFolderCall = Effect.fnUntraced(function* (directory: string) {
  const clock = yield* Effect.clock
  let running = 0
  /** When the last call has started or returned, in monotonic milliseconds. */
  let progressAt = 0
  let silence: SourceError | undefined
  /** What refuses the calls that run or wait, and what starts those that wait. */
  const open = new Set<(cause: unknown) => void>()
  const waiting: Array<() => void> = []

  const call: FolderCall = (action) =>
    new Promise((resolve, refuse) => {
      if (silence !== undefined) return refuse(silence)
      open.add(refuse)
      const start = async () => {
        running++
        progressAt = unsafeMonotonicMillis(clock)
        try {
          resolve(await action())
        } catch (cause) {
          refuse(cause)
        }
        running--
        progressAt = unsafeMonotonicMillis(clock)
        silence = undefined
        open.delete(refuse)
        waiting.shift()?.()
      }
      if (running < most) start()
      else waiting.push(start)
    })

  const watch = Effect.gen(function* () {
    const now = yield* monotonicMillis
    const left = (running === 0 ? now : progressAt) + patience - now
    if (left > 0) return yield* Effect.sleep(left)
    const before = progressAt
    yield* Effect.sleep("1 second") // for calls that began just before time jumped
    if (running === 0 || progressAt !== before) return
    const detail =
      "this folder has not responded for 30 seconds, so its changes are not shown. Is its disk or network share connected?"
    silence = new SourceError({ place: directory, detail, isTransient: true })
    for (const refuse of open) refuse(silence)
    open.clear()
    waiting.length = 0
    yield* Effect.sleep("1 second")
    silence = undefined
    progressAt = yield* monotonicMillis
  })
  yield* Effect.forkScoped(Effect.forever(watch))
  return call
})
