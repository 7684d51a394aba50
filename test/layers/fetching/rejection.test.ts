/**
 * A source whose content is not as expected.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as TestClock from "effect/TestClock"
import * as Content from "../../../src/layers/fetching/Content.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { SourceError } from "../../../src/services/SourceError.ts"
import type { Violation } from "../../../src/services/Violation.ts"
import {
  contentState,
  fetch,
  follow,
  itemsOf,
  names,
  readManifest,
  rowValue,
  services,
  sourceRows,
  statusRows
} from "../../support/content.ts"
import { withLog } from "../../support/logged.ts"

const violation: Violation = {
  table: "Objects",
  recordId: "rec1",
  records: 3,
  field: "title",
  expected: "text",
  found: "nothing",
  hint: '"title" is missing; "titel" is new: was it renamed?'
}
const text =
  'Table "Objects", record rec1 and 2 more, field "title": expected text, found nothing. "title" is missing; "titel" is new: was it renamed?'

const rejected = new SourceError({
  source: "objects",
  cause: new Error(text),
  violations: [violation]
})

const rejectedRows = Effect.map(statusRows, (rows) =>
  itemsOf(rows, "Rejected").map((row) => (row.type === "text" ? [row.text, row.tone] : row))
)

describe("a rejected version", () => {
  it.scoped("is reported, stays off the screen, and is in the status until a fetch succeeds", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const failure = yield* Ref.make<SourceError | undefined>(undefined)
      const warnings = yield* Ref.make<ReadonlyArray<string>>([])
      const source: ContentSource = {
        id: "objects",
        fetch: () =>
          Effect.gen(function* () {
            const error = yield* Ref.get(failure)
            return error === undefined
              ? { fingerprint: "one", records: 1, bytes: 0, warnings: yield* Ref.get(warnings) }
              : yield* error
          })
      }
      yield* Content.fromSources({}, [source])
      const events = yield* follow
      yield* Ref.set(warnings, ['Table "Objects": it is empty'])
      yield* fetch
      const before = yield* readManifest
      const done = yield* events.until("content:fetch:done")
      expect(done.find(({ name }) => name === "content:source:done")?.payload).toMatchObject({
        warnings: [{ code: "content:note", subject: "objects", text: 'Table "Objects": it is empty' }]
      })
      const [warning] = itemsOf(itemsOf(yield* statusRows, "Sources"), "objects").filter(
        (row) => row.type === "kv" && row.label === "Warning"
      )
      expect(warning).toMatchObject({ value: 'Table "Objects": it is empty', tone: "warn" })

      yield* Ref.set(failure, rejected)
      yield* TestClock.adjust("1 second")
      yield* Effect.flip(fetch)
      const told = yield* events.until("content:fetch:error")
      expect(names(told)).toEqual([
        "content:fetch:start",
        "content:source:start",
        "content:source:error",
        "content:version:rejected",
        "content:fetch:error"
      ])
      expect(told[3]?.payload).toEqual({
        timestamp: "1970-01-01T00:00:01.000Z",
        sourceId: "objects",
        error: {
          name: "SourceError",
          message: `Source "objects": ${text}`,
          cause: { name: "Error", message: text }
        },
        violations: [violation]
      })
      expect(yield* readManifest).toEqual(before)
      const since =
        'since 1970-01-01T00:00:01.000Z: the content of the source "objects" is not as expected; its content in the active version stays'
      expect(yield* rejectedRows).toEqual([
        [since, "error"],
        [text, "error"]
      ])
      expect((yield* contentState).rejection).toEqual({
        since: "1970-01-01T00:00:01.000Z",
        sourceId: "objects",
        violations: [violation]
      })

      // The rejection is reported once, and does not end while the result is unknown.
      yield* Ref.set(failure, new SourceError({ source: "objects", cause: new Error("no network") }))
      yield* TestClock.adjust("1 second")
      yield* Effect.flip(fetch)
      expect(names(yield* events.until("content:fetch:error"))).not.toContain("content:version:rejected")
      expect(yield* rowValue("Last fetch")).toMatch(/, failed: see its source below$/)
      yield* Ref.set(failure, rejected)
      yield* Effect.flip(fetch)
      yield* Effect.flip(fetch)
      expect((yield* rejectedRows)[0]).toEqual([since, "error"])
      expect(yield* rowValue("Last fetch")).toMatch(/, failed: rejected, see above$/)
      expect(yield* sourceRows("objects")).toContainEqual([
        "Last error",
        expect.stringMatching(/, rejected, see above$/)
      ])
      expect(log.filter((line) => line.startsWith("WARN"))).toEqual([
        `WARN Version rejected, content stays as it is. Source "objects": ${text}`,
        'WARN Fetch failed, content stays as it is. Source "objects": no network'
      ])

      yield* Ref.set(failure, undefined)
      yield* Ref.set(warnings, [])
      yield* fetch
      expect(yield* rejectedRows).toEqual([])
      expect((yield* contentState).rejection).toBeUndefined()
    }).pipe(Effect.provide(services("persistent")), withLog(log))
  })
})
