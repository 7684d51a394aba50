/**
 * An event bus of all processes that share a file: one line for each event, `["name",payload]`, in the order of
 * publication.
 *
 * Payloads are JSON. No event is missed: a slow reader finds the rest in the file, and has 64 KiB in memory. Nothing is removed:
 * somebody must start a new file from time to time, when no process has the file open.
 */
import { watch } from "node:fs"
import { open } from "node:fs/promises"
import { Data, Effect, Layer, Queue, Stream } from "effect"
import { EventBus } from "vitrine"

export class JournalUnusable extends Data.TaggedError("JournalUnusable")<{ file: string; cause: unknown }> {
  override get message() {
    return `The events cannot be kept in ${this.file}: ${this.cause}. Name a file that can be written.`
  }
}

export const layer = (file: string) => Layer.scoped(EventBus.EventBus, make(file))

export const make = (file: string) =>
  Effect.gen(function* () {
    const journal = yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: () => open(file, "a+"),
        catch: (cause) => new JournalUnusable({ file, cause })
      }),
      (journal) => Effect.promise(() => journal.close())
    )

    /** Continues to read, line by line, up to the end of the file or of a piece. */
    const makeReader = () => {
      const buffer = Buffer.allocUnsafe(64 * 1024)
      let position = 0
      let sequence = 0
      let begun: Buffer = Buffer.alloc(0)
      return async () => {
        const { bytesRead } = await journal.read(buffer, 0, buffer.length, position)
        const bytes = Buffer.concat([begun, buffer.subarray(0, bytesRead)])
        const end = bytes.lastIndexOf("\n") + 1
        position += bytesRead
        begun = bytes.subarray(end)
        const lines = bytes.toString("utf8", 0, end).split("\n").slice(0, -1)
        const events = lines.map((line) => ({ line, sequence: ++sequence }))
        return { atEnd: bytesRead === 0, events, next: sequence + 1 }
      }
    }

    return EventBus.EventBus.of({
      publish: (name, payload) =>
        // A single write at the end of the file, which the system does not split.
        Effect.tryPromise(() => journal.appendFile(`${JSON.stringify([name, payload ?? null])}\n`)).pipe(
          Effect.catchAll(({ cause }) => Effect.logWarning(`The event ${name} was not published: ${cause}`))
        ),
      subscribe: Effect.gen(function* () {
        const changes = yield* Effect.acquireRelease(Queue.sliding<void>(1), Queue.shutdown)
        const changed = () => void changes.unsafeOffer()
        yield* Effect.acquireRelease(
          Effect.sync(() => watch(file, changed)),
          (watcher) => Effect.sync(() => watcher.close())
        )
        const read = makeReader()
        // Skips existing lines, which were published before.
        const { next } = yield* Effect.repeat(Effect.promise(read), { until: ({ atEnd }) => atEnd })
        const events = Stream.fromQueue(changes).pipe(
          Stream.mapEffect(() => Effect.promise(read)),
          Stream.tap(({ atEnd }) => Effect.sync(() => atEnd || changed())),
          Stream.flatMap(({ events }) => Stream.fromIterable(events)),
          Stream.map(({ line, sequence }) => {
            const [name, payload]: [string, unknown] = JSON.parse(line)
            return { name, payload, sequence }
          })
        )
        return EventBus.feed(events, next)
      }),
      emptied: Stream.empty
    })
  })
