import { expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as TestClock from "effect/TestClock"
import * as Content from "../../../src/layers/fetching/Content.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { fetch, follow, names } from "../../support/content.ts"
import { inController } from "../../support/scenario.ts"

const fetchLater = Effect.zipRight(TestClock.adjust("1 second"), fetch)

inController("a version is compared with the previous one after it was announced", function* ({ fs }) {
  const year = yield* Ref.make(1862)
  const source: ContentSource = {
    id: "exhibits",
    fetch: ({ directory }) =>
      Effect.gen(function* () {
        const fingerprint = JSON.stringify([{ id: "rec1", title: "Fog Bell", year: yield* Ref.get(year) }])
        yield* Effect.orDie(fs.writeFileString(`${directory}/Objects.json`, fingerprint))
        return { fingerprint, records: 1, bytes: fingerprint.length }
      })
  }
  yield* Content.fromSources({}, [source])
  const events = yield* follow
  const [first, second] = ["19700101T000000Z", "19700101T000001Z"]
  const compared = {
    documents: [
      { sourceId: "exhibits", document: "Objects", path: "Objects.json", added: 0, changed: 1, removed: 0 }
    ],
    files: { added: 0, changed: 0, removed: 0 }
  }

  yield* fetch
  yield* Ref.set(year, 1863)
  yield* fetchLater
  const published = yield* events.until("content:version:compared")
  expect(names(published).filter((name) => name.startsWith("content:version:"))).toEqual([
    "content:version:promoted",
    "content:version:promoted",
    "content:version:compared"
  ])
  expect(published.at(-1)?.payload).toEqual({
    from: first,
    versionId: second,
    ...compared,
    changes: ['Objects: "Fog Bell" year 1862 → 1863']
  })

  const { dispatch } = yield* CommandBus
  yield* dispatch({ type: "content.rollback" })
  expect((yield* events.until("content:version:compared")).at(-1)?.payload).toEqual({
    from: second,
    versionId: first,
    ...compared,
    changes: ['Objects: "Fog Bell" year 1863 → 1862']
  })
})
