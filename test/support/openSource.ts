/**
 * A source, and what its fetches save.
 */
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ContentSourceDefinition, FetchTarget } from "../../src/services/ContentSource.ts"
import { withAdvancingClock } from "../../src/testing/advancingClock.ts"
import { filesIn } from "./media.ts"

/** The result of an earlier fetch. */
interface Before {
  readonly directory: string
  readonly fingerprint: string
}

export const openSource = Effect.fnUntraced(function* (definition: ContentSourceDefinition) {
  const fs = yield* FileSystem.FileSystem
  const source = yield* definition.make
  const fetch = Effect.fnUntraced(function* (before?: Before, target: Partial<FetchTarget> = {}) {
    const directory = yield* fs.makeTempDirectoryScoped()
    const previous =
      before === undefined
        ? Option.none()
        : Option.some({
            directory: before.directory,
            fingerprint: Option.some(before.fingerprint),
            files: filesIn(before.directory)
          })
    const fetched = yield* source.fetch({ directory, previous, progress: () => Effect.void, ...target })
    const read = (name: string) =>
      Effect.map(fs.readFileString(join(directory, `${name}.json`)), (text): unknown => JSON.parse(text))
    return { ...fetched, directory, read }
  })
  return { fetch }
})

/** The same with a `TestClock`, which advances while the source waits. */
export const openWithTestClock = (definition: ContentSourceDefinition) =>
  Effect.map(openSource(definition), (source) => {
    const fetch = (...[before, target]: Parameters<typeof source.fetch>) =>
      Effect.map(withAdvancingClock(source.fetch(before, target)), ({ value }) => value)
    return { fetch }
  })

export const messageOf = <A, E extends Error, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onFailure: ({ message }) => message, onSuccess: () => "no failure" })
