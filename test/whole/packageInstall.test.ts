/**
 * The packed package, installed from the registry as users install it: beside no Effect, the oldest and another major one.
 *
 * Skipped where no registry is reachable; where `CI` is set, they run and fail.
 */
import { execFile, spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { read, repository } from "../support/documents.ts"
import { runVitrine } from "../support/vitrineProcess.ts"

const isReachable =
  process.env.CI !== undefined ||
  spawnSync("npm", ["view", "neverthrow", "version", "--fetch-retries=0", "--fetch-timeout=5000"]).status ===
    0

const { peerDependencies }: { readonly peerDependencies: Readonly<Record<string, string>> } = JSON.parse(
  read("package.json")
)

/** The lower end of the range of each package of Effect that programs use; `vitrine/testing` needs others as well. */
const lowestPeers = ["effect", "@effect/platform", "@effect/platform-node"].map(
  (name) => `${name}@${peerDependencies[name]?.match(/\d+\.\d+\.\d+/)?.[0]}`
)

const execute = promisify(execFile)

/** What a program writes, and whether it succeeds. */
const run = (cwd: string, program: string, ...args: ReadonlyArray<string>) =>
  Effect.promise(() =>
    execute(program, args, { cwd }).then(
      ({ stderr, stdout }) => ({ succeeded: true, output: `${stdout}${stderr}` }),
      (error: Error) => ({
        succeeded: false,
        output: `${Object.entries(error).map(([, value]) => value)}${error.message}`
      })
    )
  )

const succeeds = (cwd: string, program: string, ...args: ReadonlyArray<string>) =>
  Effect.map(run(cwd, program, ...args), ({ output, succeeded }) => {
    expect({ output, succeeded }).toMatchObject({ succeeded: true })
    return output
  })

const npmInstall = ["install", "--prefer-offline", "--no-audit", "--no-fund"]
const pnpm = ["--yes", "--prefer-offline", "pnpm@10"]

/** The path of the packed package. */
class Tarball extends Context.Tag("test/Tarball")<Tarball, string>() {}

const newFolder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  Effect.flatMap(fs.makeTempDirectoryScoped({ prefix: "vitrine-install-" }), fs.realPath)
)

const pack = Effect.gen(function* () {
  const folder = yield* newFolder
  // Without its scripts: they would build what other tests run meanwhile.
  yield* succeeds(repository, "npm", "pack", "--ignore-scripts", "--pack-destination", folder)
  return join(folder, `vitrine-${JSON.parse(read("package.json")).version}.tgz`)
})

const emptyProject = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* newFolder
  const write = (name: string, text: string) => fs.writeFileString(join(folder, name), text)
  yield* write("package.json", '{ "private": true, "type": "module" }\n')
  const vitrine = (...args: ReadonlyArray<string>) =>
    runVitrine(args, { cwd: folder, bin: join(folder, "node_modules/vitrine/dist/bin.js") })
  return { folder, vitrine, write }
})

type Project = Effect.Effect.Success<typeof emptyProject>

/** What newcomers do. Nothing but the controller's log is on standard error. */
const beginsAndRuns = ({ folder, vitrine, write }: Project) =>
  Effect.gen(function* () {
    const begun = yield* Effect.flatMap(vitrine("init"), ({ ended }) => ended)
    expect(begun).toMatchObject({ status: 0, stderr: "" })
    const configuration = readFileSync(join(folder, "vitrine.config.ts"), "utf8")
    yield* write("vitrine.config.ts", configuration.replaceAll(/87[13]0/g, "0"))
    yield* runs({ vitrine }, "vitrine.config.ts")
  })

const runs = ({ vitrine }: Pick<Project, "vitrine">, configuration: string) =>
  Effect.gen(function* () {
    const controller = yield* vitrine("start", "--config", configuration)
    yield* controller.logged(/HTTP transport on (http:\S+): /)
    yield* controller.logged(/(Ready)/)
    yield* controller.signal("SIGTERM")
    const { status, stderr } = yield* controller.ended
    expect(status).toBe(0)
    expect(stderr).not.toContain("Executing an Effect versioned")
    return stderr
  })

/** A plugin of the project's own, made with the Effect that it has installed. */
const ownPlugin = `import { Effect, Layer } from "effect"
import { defineConfig, EventBus, httpTransport, Plugin } from "vitrine"
const heard = Layer.scopedDiscard(Effect.flatMap(EventBus, ({ publish }) => publish("mine", {})))
export default defineConfig({ plugins: [Plugin.fromLayer("mine", heard), httpTransport({ port: 0 })] })
`

/** Sets `vitrine/plain` up, and uses the project's own Effect, if there is one, before and after. */
const plainProgram = (effect: string) => `${effect}
import { httpTransport } from "vitrine/plain"
const nothing = () => {}
const say = console.error
const result = await httpTransport({ port: 0 }).setup({
  eventBus: { onAny: nothing, offAny: nothing, emit: nothing },
  logger: { error: say, warn: say, info: nothing, debug: nothing, verbose: nothing },
  abortSignal: new AbortController().signal,
  mode: "persistent",
  getStatusSnapshot: () => ({}),
  getGlobalState: () => ({}),
  dispatchCommand: nothing,
  updateState: nothing
})
const { address, disconnect } = result._unsafeUnwrap()
const status = await fetch(\`http://127.0.0.1:\${address.port}/status\`)
await disconnect()
console.log(status.status)
`

const plainRuns = ({ folder, write }: Project, effect = "") =>
  Effect.gen(function* () {
    yield* write("plain.mjs", plainProgram(effect))
    expect(yield* succeeds(folder, process.execPath, "plain.mjs")).toBe("200\n")
  })

layer(Layer.provideMerge(Layer.scoped(Tarball, pack), NodeContext.layer), {
  excludeTestServices: true,
  timeout: 60_000
})("the package from a registry (skipped where none is reachable)", (it) => {
  const scenario = it.scoped.skipIf(!isReachable)

  scenario("runs from an empty folder, without Effect and without a warning of npm", () =>
    Effect.gen(function* () {
      const project = yield* emptyProject
      const said = yield* succeeds(project.folder, "npm", ...npmInstall, yield* Tarball)
      expect(said).not.toContain("install-scripts")
      expect(existsSync(join(project.folder, "node_modules/effect"))).toBe(false)
      yield* beginsAndRuns(project)
      yield* plainRuns(project)
    })
  )

  scenario("runs with the oldest Effect that it is made for, and plugins made with that", () =>
    Effect.gen(function* () {
      const project = yield* emptyProject
      yield* succeeds(project.folder, "npm", ...npmInstall, yield* Tarball, ...lowestPeers)
      yield* project.write("vitrine.config.ts", ownPlugin)
      yield* runs(project, "vitrine.config.ts")
      yield* plainRuns(
        project,
        'import { Effect } from "effect"\nawait Effect.runPromise(Effect.sleep("1 millis"))'
      )
    })
  )

  scenario("runs plugins made with another Effect that is there alone, and says what to install", () =>
    Effect.gen(function* () {
      const project = yield* emptyProject
      const [effect = ""] = lowestPeers
      yield* succeeds(project.folder, "npm", ...npmInstall, yield* Tarball, effect)
      yield* project.write("vitrine.config.ts", ownPlugin)
      const stderr = yield* runs(project, "vitrine.config.ts")
      expect(stderr.match(/npm install effect@3/g)).toHaveLength(1)
    })
  )

  scenario("is refused beside Effect 4; forced, all runs that brings its own Effect", () =>
    Effect.gen(function* () {
      const project = yield* emptyProject
      const { folder, vitrine, write } = project
      const install = [...npmInstall, yield* Tarball, "effect@4"]
      const refused = yield* run(folder, "npm", ...install)
      expect(refused.succeeded).toBe(false)
      expect(refused.output).toMatch(/ERESOLVE[\s\S]*peerOptional effect@"\^3[\s\S]* from vitrine/)
      yield* succeeds(folder, "npm", ...install, "--legacy-peer-deps")
      yield* beginsAndRuns(project)
      yield* plainRuns(project, 'import { Effect } from "effect"\nawait Effect.runPromise(Effect.void)')
      yield* write(
        "foreign.config.ts",
        'import { Layer } from "effect"\nimport { defineConfig, Plugin } from "vitrine"\nexport default defineConfig({ plugins: [Plugin.fromLayer("mine", Layer.empty)] })\n'
      )
      const controller = yield* vitrine("start", "--config", "foreign.config.ts")
      const { status, stderr } = yield* controller.ended
      expect(status).toBe(1)
      expect(stderr).toContain("plugins[0] (mine): Vitrine needs effect 3: expected a Layer of that version")
    })
  )

  scenario("is installed by pnpm, without Effect and with it", () =>
    Effect.gen(function* () {
      const project = yield* emptyProject
      const { folder, write } = project
      yield* succeeds(folder, "npx", ...pnpm, "add", "--prefer-offline", yield* Tarball)
      yield* beginsAndRuns(project)
      yield* plainRuns(project)
      yield* succeeds(folder, "npx", ...pnpm, "add", "--prefer-offline", ...lowestPeers)
      yield* write("own.config.ts", ownPlugin)
      yield* runs(project, "own.config.ts")
    })
  )
})
