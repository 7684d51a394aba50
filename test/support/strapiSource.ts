/**
 * A source of Strapi's content, over the stand-in or a real Strapi, and what its fetches save.
 */
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { StrapiSourceConfig } from "../../src/layers/sources/strapi/StrapiOptions.ts"
import { strapiSource } from "../../src/layers/sources/strapi/StrapiSource.ts"
import { filesIn } from "./media.ts"

/** What an earlier fetch gave. */
interface Before {
  readonly directory: string
  readonly fingerprint: string
}

export const makeStrapiSource = Effect.fnUntraced(function* (config: Omit<StrapiSourceConfig, "id">) {
  const fs = yield* FileSystem.FileSystem
  const source = yield* strapiSource({ id: "museum", ...config }).make
  const fetch = Effect.fnUntraced(function* (before?: Before) {
    const directory = yield* fs.makeTempDirectoryScoped()
    const previous =
      before === undefined
        ? Option.none()
        : Option.some({
            directory: before.directory,
            fingerprint: Option.some(before.fingerprint),
            files: filesIn(before.directory)
          })
    const fetched = yield* source.fetch({ directory, previous, progress: () => Effect.void })
    const read = (name: string) =>
      Effect.map(fs.readFileString(join(directory, `${name}.json`)), (text): unknown => JSON.parse(text))
    return { ...fetched, directory, read }
  })
  const poll = (cursor: Option.Option<string>) => source.poll?.(cursor) ?? Effect.dieMessage("It has no poll")
  return { fetch, poll }
})

export const messageOf = <A, E extends Error, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onFailure: ({ message }) => message, onSuccess: () => "no failure" })
