/**
 * Undoing where no controller runs, and where none could be started.
 */
import { hostname } from "node:os"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as vitrine from "../../../src/index.ts"
import type { Command } from "../../../src/layers/cli/Command.ts"
import * as diff from "../../../src/layers/cli/diff.ts"
import * as undo from "../../../src/layers/cli/undo.ts"
import * as verify from "../../../src/layers/cli/verify.ts"
import * as versions from "../../../src/layers/cli/versions.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { promote } from "../../support/promote.ts"
import { says } from "../../support/says.ts"

const platform = Layer.merge(NodeContext.layer, HttpClientNode.layer)

const library = {
  ...vitrine,
  services: Layer.fail(new Error("The bus cannot be reached.")),
  broken: {
    name: "broken",
    issues: [{ path: "port", message: "is in use" }],
    setup: () => Effect.fail(new Error("It was set up."))
  }
}

/** What stands in the place of `content` in the configuration. */
const configuration = (plugin: string) => `
import { broken, content, replica, services, tableSource } from "vitrine"
export default { services, plugins: [broken, ${plugin}] }
`

const withoutKey = `content({
  downloadPath: "shown",
  fetchEvery: -1,
  sources: [tableSource({ id: "exhibits", baseId: "app", apiKey: undefined, tabels: ["Objects"] })]
})`

/** A folder with a configuration and two versions of its content. */
const project = (plugin: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    const file = `${folder}/vitrine.config.mjs`
    yield* fs.writeFileString(file, configuration(plugin))
    const promotions = yield* Effect.all([promote("one"), promote("two")]).pipe(
      Effect.provide(VersionStoreDisk.layer({ directory: `${folder}/shown` }))
    )
    const [first, second] = promotions.map(({ manifest }) => manifest.versionId)
    return { file, first, second }
  })

describe("where no controller runs, the versions on disk", () => {
  for (const [title, plugin] of [
    ["of sources that could not be fetched", withoutKey],
    ["of a hub that is not named", `replica({ downloadPath: "shown" })`]
  ] as const) {
    it.scopedLive(`${title} are listed, verified, gone back to, held, released and resumed`, () =>
      Effect.gen(function* () {
        const { file, first, second } = yield* project(plugin)
        const said = <E, R>(command: Command<E, R>, ...args: ReadonlyArray<string>) =>
          Effect.map(says(command, command.name, "--config", file, ...args), (lines) => lines.join("\n"))
        expect(yield* said(versions.makeCommand(library))).toContain(`${second}  active`)
        expect(yield* said(verify.makeCommand(library))).toContain(`Version ${second}: 1 file`)
        expect(yield* said(diff.makeCommand(library))).toBe(
          `From version ${first} to ${second}:\nfiles: 0 added, 1 changed, 0 removed\n  changed objects/Objects.json`
        )
        expect(yield* said(undo.makeRollback(library))).toBe(
          `Version ${first} is active now, and stays until "vitrine resume". Version ${second} waits.`
        )
        expect(yield* said(undo.makeRelease(library))).toBe(
          `Version ${second} is active now, and stays until "vitrine resume".`
        )
        expect(yield* said(undo.makeResume(library))).toBe(`Version ${second} is active, and is not held.`)
        expect(yield* said(undo.makeRelease(library))).toBe(
          `Version ${second} is active, and no other one waits.`
        )
        expect(yield* said(undo.makeHold(library))).toBe(
          `Version ${second} is active, and stays until "vitrine resume".`
        )
      }).pipe(Effect.provide(platform))
    )
  }

  it.scopedLive("are released by hand where the configuration says so", () =>
    Effect.gen(function* () {
      const { file, first, second } = yield* project(
        'content({ downloadPath: "shown", release: "by hand", sources: [] })'
      )
      const said = <E, R>(command: Command<E, R>, ...args: ReadonlyArray<string>) =>
        Effect.map(says(command, command.name, "--config", file, ...args), (lines) => lines.join("\n"))
      expect(yield* said(undo.makeRelease(library), first ?? "")).toBe(
        `Version ${first} is active now. Version ${second} waits. "vitrine release" shows it.`
      )
      expect(yield* said(versions.makeCommand(library))).toMatch(
        new RegExp(
          `^${second}  waits\n(.*\n)*${first}  active\n(.*\n)*Since .*, version ${second} waits: "vitrine release" makes it the active one\\.$`
        )
      )
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.stubEnv("SUDO_USER", "anna")),
        () => Effect.sync(() => vi.unstubAllEnvs())
      )
      expect(yield* said(undo.makeRelease(library))).toBe(`Version ${second} is active now.`)
      expect(yield* said(versions.makeCommand(library))).toMatch(
        new RegExp(`^${second}  active\n.*\n  released .* by anna@${hostname()}\n`)
      )
    }).pipe(Effect.provide(platform))
  )

  it.scoped("are not looked for in a folder that is named wrongly: it is said where", () =>
    Effect.gen(function* () {
      const { file } = yield* project("content({ downloadPath: 1, sources: [] })")
      const command = versions.makeCommand(library)
      expect((yield* Effect.flip(says(command, command.name, "--config", file))).message).toContain(
        "plugins[1] (content).downloadPath: expected the path of a folder, got 1"
      )
    }).pipe(Effect.provide(platform))
  )
})
