/**
 * The plugin of a content server.
 */
import { resolve } from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { issuesOf } from "../../internal/Options.ts"
import { BaseFolder } from "../../services/ContentSource.ts"
import type { Plugin } from "../../services/Plugin.ts"
import * as ContentServer from "./ContentServer.ts"
import * as ContentServerOptions from "./ContentServerOptions.ts"

/** Serves the downloads folder over HTTP, and a page beside it. */
export const contentServer = (config: ContentServerOptions.ContentServerConfig = {}): Plugin => {
  const options = ContentServerOptions.decode(config)
  return {
    name: Either.match(options, { onLeft: () => "content-server", onRight: ContentServerOptions.nameOf }),
    issues: issuesOf(options),
    setup: ({ cwd }) =>
      Effect.gen(function* () {
        const { downloadPath, site, ...serving } = yield* options
        const server = ContentServer.fromOptions({
          ...serving,
          downloadPath: resolve(cwd, downloadPath),
          ...(site === undefined ? {} : { site: Predicate.isString(site) ? resolve(cwd, site) : site })
        })
        return yield* Effect.as(Effect.provideService(server, BaseFolder, cwd), Effect.void)
      })
  }
}
