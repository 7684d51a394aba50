/**
 * Plain calls for many files, as one effect: an effect for each call takes several times the processor time of the call.
 */
import { readdir } from "node:fs/promises"
import { join, relative, sep } from "node:path"
import * as Effect from "effect/Effect"

/**
 * Does something with each of the files, 32 at a time, and gives what came of each, in their order. Nothing more is begun after a
 * failure or an interruption; what is under way then ends by itself.
 */
export const forEachFile = <A, B, E>(
  files: Iterable<A>,
  action: (file: A, signal: AbortSignal) => Promise<B>,
  failed: (cause: unknown) => E
): Effect.Effect<ReadonlyArray<B>, E> =>
  Effect.tryPromise({
    try: async (signal) => {
      const all = [...files]
      const waiting = all.entries()
      const results: B[] = []
      let isFailed = false
      const work = async () => {
        for (const [index, file] of waiting) {
          if (isFailed || signal.aborted) return
          try {
            results[index] = await action(file, signal)
          } catch (cause) {
            isFailed = true
            throw cause
          }
        }
      }
      await Promise.all(Array.from({ length: Math.min(concurrency, all.length) }, work))
      return results
    },
    catch: failed
  })

/** Threads that have something to do need not be woken for each call. */
const concurrency = 32

export const toError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)))

/** All files and folders below a folder, by their paths with forward slashes. */
export const entriesIn = (directory: string) =>
  Effect.tryPromise({
    try: () => readdir(directory, { recursive: true, withFileTypes: true }),
    catch: toError
  }).pipe(
    Effect.map((entries) =>
      entries.map((entry) => ({
        path: relative(directory, join(entry.parentPath, entry.name)).replaceAll(sep, "/"),
        isDirectory: entry.isDirectory()
      }))
    )
  )
