/**
 * A dev server of Vite with the plugin, over a project that the test writes.
 */
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { createLogger, createServer, type InlineConfig, type PluginOption } from "vite"
import { type VitrineOptions, vitrine } from "../../src/vite.ts"
import { makeFolder, writeFile } from "./contentServer.ts"
import { repository } from "./documents.ts"

/** A folder with the files and the packages of the repository. */
export const makeViteProject = (files: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* makeFolder
    yield* fs.symlink(join(repository, "node_modules"), `${folder}/node_modules`)
    yield* Effect.forEach(Object.entries(files), ([path, text]) => writeFile(`${folder}/${path}`, text))
    return folder
  })

/** Puts the packages of a project of React, which are the repository's, into one that has some already. */
export const linkPackages = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.forEach(["react", "react-dom"], (name) =>
    fs.symlink(join(repository, "node_modules", name), join(folder, "node_modules", name))
  )
})

/** What a dev server and a build of it have in common. */
export const viteConfig = (root: string): InlineConfig => ({
  configFile: false,
  root,
  // Not in the folder of the packages, which is the repository's.
  cacheDir: `${root}/.vite`,
  logLevel: "silent"
})

/** Saves a file, and again as long as it takes: of two changes within some milliseconds, Vite may see one. A controller starts in between. */
export const savedAgain = (save: Effect.Effect<void>) =>
  Effect.zipRight(Effect.repeat(save, Schedule.spaced("8 seconds")), Effect.never)

/** On a free port, until the scope ends; with the lines of its log, without colours. */
export const startVite = (
  root: string,
  { plugins = [], ...options }: VitrineOptions & { readonly plugins?: ReadonlyArray<PluginOption> }
) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const keep = (text: string) => {
      log.push(text)
    }
    const customLogger = { ...createLogger("silent"), info: keep, warn: keep, error: keep }
    const server = yield* Effect.acquireRelease(
      Effect.promise(() =>
        createServer({
          ...viteConfig(root),
          customLogger,
          plugins: [...plugins, vitrine(options)],
          server: { port: 0, host: "127.0.0.1" }
        })
      ),
      (server) => Effect.promise(() => server.close())
    )
    yield* Effect.promise(() => server.listen())
    const url = server.resolvedUrls?.local[0] ?? ""
    return { log, server, url }
  })
