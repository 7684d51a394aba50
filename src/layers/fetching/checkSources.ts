/**
 * What a fetch of sources would change, without changing it.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type { Changes, ContentCheck } from "../../services/ContentCheck.ts"
import type { ContentSource, SourceFile } from "../../services/ContentSource.ts"
import { type StagedVersion, VersionStore } from "../../services/VersionStore.ts"
import { fetchSource } from "./fetchSource.ts"

export const checkSources = (sources: ReadonlyArray<ContentSource>) =>
  Effect.map(VersionStore, (store) => {
    const checkSource = Effect.fnUntraced(function* (source: ContentSource, staged: StagedVersion) {
      const { directory, version, ...found } = yield* fetchSource(
        source,
        staged,
        "everything",
        () => Effect.void
      )
      const { sourceId } = version
      const previous = staged.previous(sourceId)
      const isSame = Option.exists(previous, ({ fingerprint }) =>
        Option.contains(fingerprint, version.fingerprint)
      )
      if (isSame) {
        return { sourceId, changed: false, ...found, files: noChanges }
      }
      const documents = yield* source.compare?.({ directory, previous }) ?? Effect.succeed(undefined)
      const paths = new Set(documents?.map(({ path }) => path))
      const others = (files: Files) => Record.filter(files, (_, path) => !paths.has(path))
      const before = Option.match(previous, { onNone: () => ({}), onSome: ({ files }) => files })
      return {
        sourceId,
        changed: true,
        ...found,
        ...(documents === undefined ? {} : { documents }),
        files: changedFiles(others(before), others(yield* staged.files(version)))
      }
    })

    const check = Effect.gen(function* () {
      const staged = yield* store.stage
      return {
        sources: yield* Effect.forEach(sources, (source) => checkSource(source, staged), {
          concurrency: "unbounded"
        })
      } satisfies ContentCheck
    }).pipe(Effect.scoped, Effect.withSpan("Content.check"))

    return check
  })

type Files = Record.ReadonlyRecord<string, SourceFile>

const noChanges: Changes = { added: 0, changed: 0, removed: 0 }

const changedFiles = (before: Files, after: Files): Changes => {
  const names = Object.keys(after)
  const kept = names.filter((name) => Object.hasOwn(before, name))
  return {
    added: names.length - kept.length,
    changed: kept.filter((name) => before[name]?.sha256 !== after[name]?.sha256).length,
    removed: Object.keys(before).length - kept.length
  }
}
