import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { FileList } from "../../../src/files/FileList.ts"
import { sha256OfText } from "../../../src/files/sha256.ts"
import { makeCopyProgress } from "../../../src/layers/replica/copyProgress.ts"
import type { ContentEvent } from "../../../src/services/ContentEvents.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"

const sha256 = sha256OfText("a")

const list = FileList.make({
  schemaVersion: 1,
  versionId: "20261128T090000Z",
  generatedAt: "2026-11-28T09:00:00.000Z",
  sources: [
    {
      sourceId: "objects",
      fingerprint: "1",
      records: 2,
      files: { "a.txt": { size: 1, sha256 }, "b.txt": { size: 1, sha256 } }
    }
  ]
})

const file = (path: string) => ({ sourceId: "objects", path, size: 1, sha256 })

describe("the progress of a copy", () => {
  it.effect("reports the end of a source once, although a slow event bus delays a report of progress", () =>
    Effect.gen(function* () {
      const events: Array<ContentEvent["name"]> = []
      const progress = yield* makeCopyProgress(list, ({ name }) =>
        Effect.zipRight(
          Effect.sync(() => events.push(name)),
          name === "content:source:progress" ? Effect.sleep("1 second") : Effect.void
        )
      )
      yield* TestClock.adjust("2 seconds")
      const downloads = Effect.forEach(["a.txt", "b.txt"], (path) => progress.downloaded(file(path)), {
        concurrency: "unbounded"
      })
      const copying = yield* Effect.fork(downloads)
      yield* TestClock.adjust("2 seconds")
      yield* copying
      expect(events.filter((name) => name === "content:source:done")).toHaveLength(1)
    })
  )

  it.effect("ends with the time that it took, although the clock is set back", () =>
    withJumpingClock(({ adjust, set }) =>
      Effect.gen(function* () {
        const events: Array<ContentEvent> = []
        const progress = yield* makeCopyProgress(list, (event) => Effect.sync(() => events.push(event)))
        yield* progress.start
        yield* set(-3_600_000)
        yield* adjust("2 seconds")
        yield* progress.downloaded(file("a.txt"))
        yield* progress.downloaded(file("b.txt"))
        expect(events.at(-1)?.payload).toMatchObject({ durationMs: 2000 })
      })
    )
  )
})
