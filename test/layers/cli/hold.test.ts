/**
 * Undoing where no controller runs, and where none could be started.
 */
import { hostname } from "node:os"
import { dirname } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as vitrine from "../../../src/index.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { promote } from "../../support/promote.ts"
import { saysWith } from "../../support/says.ts"

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

const says = saysWith(library)

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

describe("without a controller, the versions on disk", () => {
  it.scopedLive(
    "of sources that could not be fetched are listed, verified, gone back to, held, released and resumed",
    () =>
      Effect.gen(function* () {
        const { file, first, second } = yield* project(withoutKey)
        const said = (command: string, ...args: ReadonlyArray<string>) =>
          Effect.map(says(command, "--config", file, ...args), (lines) => lines.join("\n"))
        expect(yield* said("versions")).toContain(`${second}  active`)
        expect(yield* said("verify")).toContain(`Version ${second}: 1 file`)
        expect(yield* said("diff")).toBe(
          `From version ${first} to ${second}:\nfiles: 0 added, 1 changed, 0 removed\n  changed objects/Objects.json`
        )
        expect(yield* said("rollback")).toBe(
          `Version ${first} is active now, and stays until "vitrine resume". Version ${second} waits.`
        )
        expect(yield* said("release")).toBe(
          `Version ${second} is active now, and stays until "vitrine resume".`
        )
        expect(yield* said("resume")).toBe(`Version ${second} is active, and is not held.`)
        const failure = yield* Effect.flip(says("rollback", "gone", "--config", file))
        expect(String(failure)).toMatch(/^[^"]*Cannot roll back: there is no version "gone"\./)
        expect(yield* said("release")).toBe(`Version ${second} is active, and no other version waits.`)
        expect(yield* said("hold")).toBe(`Version ${second} is active, and stays until "vitrine resume".`)
      }).pipe(Effect.provide(platform))
  )

  it.scopedLive("are released by hand if the configuration says so", () =>
    Effect.gen(function* () {
      const { file, first, second } = yield* project(
        'content({ downloadPath: "shown", release: "by hand", sources: [] })'
      )
      const said = (command: string, ...args: ReadonlyArray<string>) =>
        Effect.map(says(command, "--config", file, ...args), (lines) => lines.join("\n"))
      expect(yield* said("release", first ?? "")).toBe(
        `Version ${first} is active now. Version ${second} waits. "vitrine release" shows it.`
      )
      expect(yield* said("versions")).toMatch(
        new RegExp(
          `^${second}  waits\n(.*\n)*${first}  active\n(.*\n)*Since .*, version ${second} waits: "vitrine release" makes it the active one\\.$`
        )
      )
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.stubEnv("SUDO_USER", "anna")),
        () => Effect.sync(() => vi.unstubAllEnvs())
      )
      expect(yield* said("release")).toBe(`Version ${second} is active now.`)
      expect(yield* said("versions")).toMatch(
        new RegExp(`^${second}  active\n.*\n  released .* by anna@${hostname()}\n`)
      )
      const fs = yield* FileSystem.FileSystem
      const manifest = `${dirname(file)}/shown/manifest.json`
      const text = yield* fs.readFileString(manifest)
      yield* fs.writeFileString(
        manifest,
        text.replace(/"by": ?"anna@[^"]*"/, `"until": "2026-11-21T08:00:00.000Z"`)
      )
      expect(yield* said("versions")).toMatch(/\n {2}released [^\n]*: the hold until [^\n]+ has ended\n/)
    }).pipe(Effect.provide(platform))
  )

  it.scopedLive(
    "are those of the content that is named, where there are several, and none without a name",
    () =>
      Effect.gen(function* () {
        const { file, first } = yield* project(
          'content({ downloadPath: "other", sources: [] }), content({ name: "archive", downloadPath: "shown", sources: [] })'
        )
        const said = (command: string, ...args: ReadonlyArray<string>) =>
          Effect.map(says(command, "--config", file, ...args), (lines) => lines.join("\n"))
        expect(yield* said("rollback", "--content", "archive")).toContain(`Version ${first} is active now`)
        expect(yield* said("versions", "--content", "content")).toContain("There are no versions on disk")
        expect(String(yield* Effect.flip(said("versions")))).toContain(
          "There are several contents: add --content NAME. The contents are: archive, content."
        )
        expect(String(yield* Effect.flip(said("hold", "--content", "hall")))).toContain(
          'There is no content "hall". The contents are: archive, content.'
        )
      }).pipe(Effect.provide(platform))
  )

  it.scopedLive.each([
    [
      "the only content, whatever its name is",
      'content({ name: "archive", downloadPath: "shown", sources: [] })'
    ],
    ["a hub that is not named", 'replica({ downloadPath: "shown" })']
  ] as const)("are those of %s", ([, plugin]) =>
    Effect.gen(function* () {
      const { file, second } = yield* project(plugin)
      expect((yield* says("versions", "--config", file)).join("\n")).toContain(`${second}  active`)
    }).pipe(Effect.provide(platform))
  )

  it.scoped("are not looked for in a folder that does not exist, which is named", () =>
    Effect.gen(function* () {
      const { file } = yield* project("content({ downloadPath: 1, sources: [] })")
      expect(String(yield* Effect.flip(says("versions", "--config", file)))).toContain(
        "plugins[1] (content).downloadPath: expected the path of a folder, got 1"
      )
    }).pipe(Effect.provide(platform))
  )
})
