/**
 * Finds out what a fetch of sources would change, without changing it.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ContentCheck } from "../../services/ContentCheck.ts"
import type { ContentSource } from "../../services/ContentSource.ts"
import { type StagedVersion, VersionStore } from "../../services/VersionStore.ts"
import { changedFiles, compareFiles } from "../comparing/compareVersions.ts"
import { fetchSource } from "./fetchSource.ts"

const none = { directory: "", files: {} }

export const checkSources = (sources: ReadonlyArray<ContentSource>) =>
  Effect.gen(function* () {
    const store = yield* VersionStore
    const platform = yield* Effect.context<Effect.Effect.Context<ReturnType<typeof compareFiles>>>()

    /** Fetches one source, and gives its files now and before; no files if the source has not changed. */
    const checkSource = Effect.fnUntraced(function* (source: ContentSource, staged: StagedVersion) {
      const fetched = yield* fetchSource(source, staged, () => Effect.void, true)
      const { directory, version, ...found } = fetched
      const { fingerprint, sourceId } = version
      const previous = staged.previous(sourceId)
      const changed = !Option.exists(previous, (previous) =>
        Option.contains(previous.fingerprint, fingerprint)
      )
      return {
        checked: { sourceId, changed, ...found },
        before: { sourceId, ...(changed ? Option.getOrElse(previous, () => none) : none) },
        after: { ...version, directory, files: changed ? yield* staged.files(version) : {} }
      }
    })

    return Effect.gen(function* () {
      const staged = yield* store.stage
      const checks = yield* Effect.forEach(sources, (source) => checkSource(source, staged), {
        concurrency: "unbounded"
      })
      const [before, after] = [checks.map(({ before }) => before), checks.map(({ after }) => after)]
      const differences = yield* compareFiles(changedFiles(before, after), folderIn(before), folderIn(after))
      return {
        sources: checks.map(({ checked }) => checked),
        ...differences
      } satisfies ContentCheck
    }).pipe(Effect.scoped, Effect.withSpan("Content.check"), Effect.provide(platform))
  })

const folderIn =
  (sources: ReadonlyArray<{ readonly sourceId: string; readonly directory: string }>) => (id: string) =>
    sources.find(({ sourceId }) => sourceId === id)?.directory ?? ""
