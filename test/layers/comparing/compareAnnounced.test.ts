import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as TestClock from "effect/TestClock"
import { compareAnnounced } from "../../../src/layers/comparing/makeComparing.ts"
import * as Content from "../../../src/layers/fetching/Content.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { fetch, follow, names, services } from "../../support/content.ts"
import { withLog } from "../../support/logged.ts"
import { promote } from "../../support/promote.ts"
import { inController } from "../../support/scenario.ts"
import { eventLoopTurn } from "../../support/waiting.ts"

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

inController("a document that is nested too deeply is compared as a file", function* ({ fs }) {
  const year = yield* Ref.make("1862")
  const source: ContentSource = {
    id: "exhibits",
    fetch: ({ directory }) =>
      Effect.gen(function* () {
        const fingerprint = `[\n{"id":"rec1","year":${yield* Ref.get(year)}}\n]\n`
        yield* Effect.orDie(fs.writeFileString(`${directory}/Objects.json`, fingerprint))
        return { fingerprint, records: 1, bytes: fingerprint.length }
      })
  }
  yield* Content.fromSources({}, [source])
  const events = yield* follow
  yield* fetch
  const depth = 20_000
  const nested = `${"[".repeat(depth)}1863${"]".repeat(depth)}`
  const found = yield* Effect.forEach([nested, "1864", "1865"], (text) =>
    Effect.gen(function* () {
      yield* Ref.set(year, text)
      yield* fetchLater
      return (yield* events.until("content:version:compared")).at(-1)?.payload
    })
  )
  expect(found).toMatchObject([
    { documents: [], files: { changed: 1 } },
    { documents: [], files: { changed: 1 } },
    { documents: [{ changed: 1 }], files: { changed: 0 } }
  ])
})

it.scoped("an unexpected error in a comparison is logged, and later versions are compared", () => {
  const log: Array<string> = []
  return Effect.gen(function* () {
    let failures = 1
    const reported = yield* Queue.unbounded<string>()
    const announced = yield* compareAnnounced(({ versionId }) =>
      failures-- > 0 ? Effect.dieMessage("no way") : Effect.asVoid(reported.offer(versionId))
    )
    const promoted = yield* Effect.forEach(["one", "two", "three"], (content) =>
      Effect.gen(function* () {
        const { manifest } = yield* promote(content)
        yield* announced(manifest.versionId)
        yield* Effect.repeatN(eventLoopTurn, 20)
        return manifest.versionId
      })
    )
    expect(yield* reported.take).toBe(promoted[2])
    expect(log).toEqual([expect.stringMatching(/^WARN The new version is not compared\. .*no way/)])
  }).pipe(withLog(log), Effect.provide(services("persistent")))
})
