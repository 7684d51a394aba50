/**
 * The packed package, installed from the registry as users install it: beside no Effect, the oldest and another major
 * one.
 *
 * Skipped where no registry is reachable; where `CI` is set, they run and fail.
 */
import { execFile, spawnSync } from "node:child_process"
import { chmodSync, cpSync, existsSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { promisify } from "node:util"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { compile, strictly } from "../support/compile.ts"
import { buildImage } from "../support/dockerfile.ts"
import { read, samplesOf } from "../support/documents.ts"
import { newFolder, Packed } from "../support/packed.ts"
import { runVitrine } from "../support/vitrineProcess.ts"

const isReachable =
  process.env.CI !== undefined ||
  spawnSync("npm", ["view", "neverthrow", "version", "--fetch-retries=0", "--fetch-timeout=5000"]).status ===
    0

const { peerDependencies }: { readonly peerDependencies: Readonly<Record<string, string>> } = JSON.parse(
  read("package.json")
)

/** The lower end of the range of a package. */
const lowest = (name: string) => `${name}@${peerDependencies[name]?.match(/\d+\.\d+\.\d+/)?.[0]}`

/** Those of Effect that programs use; `vitrine/nats` and `vitrine/testing` need others as well. */
const lowestPeers = ["effect", "@effect/platform", "@effect/platform-node"].map(lowest)

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

/** A project in which the package was installed, with no Effect, and what npm said of that. */
class FromRegistry extends Context.Tag("test/FromRegistry")<
  FromRegistry,
  { readonly folder: string; readonly said: string }
>() {
  static readonly layer = Layer.scoped(
    FromRegistry,
    Effect.gen(function* () {
      const { folder } = yield* emptyProject
      const { tarball } = yield* Packed
      const said = isReachable ? yield* succeeds(folder, "npm", ...npmInstall, tarball) : ""
      return { folder, said }
    })
  )
}

const emptyProject = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* newFolder
  const write = (name: string, text: string) => fs.writeFileString(join(folder, name), text)
  yield* write("package.json", '{ "private": true, "type": "module" }\n')
  const vitrine = (...args: ReadonlyArray<string>) =>
    runVitrine(args, { cwd: folder, bin: join(folder, "node_modules/vitrine/dist/bin.cjs") })
  return { folder, vitrine, write }
})

/** The same with the package installed. */
const projectWithPackage = Effect.gen(function* () {
  const { folder } = yield* FromRegistry
  const project = yield* emptyProject
  cpSync(folder, project.folder, { recursive: true, verbatimSymlinks: true })
  return project
})

type Project = Effect.Effect.Success<typeof emptyProject>

/** Without the mistakes in the types of other packages: Effect 4 and the oldest Vitest have some of their own. */
const compilerSays = (folder: string) =>
  compile(folder)
    .split("\n")
    .filter((line) => !/^([^(]*\/node_modules\/(?!vitrine\/)| |$)/.test(line))

/** What newcomers do. Nothing but the controller's log is on standard error. */
const beginsAndRuns = ({ folder, vitrine, write }: Project) =>
  Effect.gen(function* () {
    const begun = yield* Effect.flatMap(vitrine("init"), ({ ended }) => ended)
    expect(begun).toMatchObject({ status: 0, stderr: "" })
    const configuration = readFileSync(join(folder, "vitrine.config.ts"), "utf8")
    yield* write("vitrine.config.ts", configuration.replaceAll(/87\d0/g, "0"))
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
const heard = Layer.scopedDiscard(Effect.flatMap(EventBus.EventBus, ({ publish }) => publish("mine", {})))
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

const environment = FromRegistry.layer.pipe(
  Layer.provideMerge(Packed.layer),
  Layer.provideMerge(NodeContext.layer)
)

describe.concurrent("the package from a registry (skipped where none is reachable)", () => {
  layer(environment, { excludeTestServices: true, timeout: 240_000 })((it) => {
    const scenario = it.scoped.skipIf(!isReachable)

    scenario("runs from an empty folder, without Effect and without a warning of npm", () =>
      Effect.gen(function* () {
        const { said } = yield* FromRegistry
        const project = yield* projectWithPackage
        expect(said).not.toContain("install-scripts")
        expect(existsSync(join(project.folder, "node_modules/effect"))).toBe(false)
        yield* beginsAndRuns(project)
        yield* plainRuns(project)
      })
    )

    scenario("runs with the oldest Effect that it is made for, and plugins made with that", () =>
      Effect.gen(function* () {
        const project = yield* projectWithPackage
        yield* succeeds(project.folder, "npm", ...npmInstall, ...lowestPeers)
        yield* project.write("vitrine.config.ts", ownPlugin)
        yield* runs(project, "vitrine.config.ts")
        yield* plainRuns(
          project,
          'import { Effect } from "effect"\nawait Effect.runPromise(Effect.sleep("1 millis"))'
        )
      })
    )

    scenario("has types with the oldest of all packages that it is made for", () =>
      Effect.gen(function* () {
        const { folder, write } = yield* projectWithPackage
        yield* succeeds(folder, "npm", ...npmInstall, ...Object.keys(peerDependencies).map(lowest))
        const modules = ["vitrine", "vitrine/nats", "vitrine/plain", "vitrine/testing"]
        yield* write(
          "modules.ts",
          modules.map((name, index) => `export * as m${index} from "${name}"\n`).join("")
        )
        yield* write("tsconfig.json", strictly({ module: "nodenext", moduleResolution: "nodenext" }))
        expect(compilerSays(folder)).toEqual([])
      })
    )

    scenario("runs plugins made with another Effect that is there alone, and says what to install", () =>
      Effect.gen(function* () {
        const project = yield* projectWithPackage
        const [effect = ""] = lowestPeers
        yield* succeeds(project.folder, "npm", ...npmInstall, effect)
        yield* project.write("vitrine.config.ts", ownPlugin)
        const stderr = yield* runs(project, "vitrine.config.ts")
        expect(stderr.match(/npm install effect@3/g)).toHaveLength(1)
      })
    )

    it.scoped.skipIf(!isReachable || process.getuid?.() !== 0)(
      "runs in what the steps of its Dockerfile make, as the user of that (skipped but for root)",
      () =>
        Effect.gen(function* () {
          const { folder, vitrine, write } = yield* emptyProject
          const { tarball } = yield* Packed
          cpSync(tarball, join(folder, basename(tarball)))
          yield* succeeds(folder, "npm", ...npmInstall, `./${basename(tarball)}`)
          yield* Effect.flatMap(vitrine("init", "--page"), ({ ended }) => ended)
          const configuration = readFileSync(join(folder, "vitrine.config.ts"), "utf8")
          yield* write("vitrine.config.ts", configuration.replaceAll(/87[13]0/g, "0"))

          const root = yield* newFolder
          chmodSync(root, 0o755)
          const image = buildImage("deploy/docker/Dockerfile", folder, root)
          expect(image.uid).toBe(1000)
          const [node, bin = "", ...args] = image.command
          expect(node).toBe("node")
          expect(image.env).toEqual({ TZ: "UTC" })
          const controller = yield* runVitrine(args, {
            cwd: image.cwd,
            bin: join(image.cwd, bin),
            uid: image.uid,
            env: { HOME: "/nonexistent", ...image.env }
          })
          const page = yield* controller.logged(/Content server on \S+: page at (\S+),/)
          yield* controller.logged(/(New version)/)
          const served = yield* Effect.promise(async () => (await fetch(page)).text())
          expect(served).toContain("<title>Exhibit</title>")
          yield* controller.signal("SIGTERM")
          expect(yield* controller.ended).toMatchObject({ status: 0 })
        })
    )

    scenario("is installed beside Effect 4, where all runs that brings its own Effect", () =>
      Effect.gen(function* () {
        const project = yield* projectWithPackage
        const { folder, vitrine, write } = project
        yield* succeeds(folder, "npm", ...npmInstall, "effect@4")
        yield* beginsAndRuns(project)
        yield* plainRuns(project, 'import { Effect } from "effect"\nawait Effect.runPromise(Effect.void)')
        yield* write(
          "foreign.config.ts",
          'import { Layer } from "effect"\nimport { defineConfig, Plugin } from "vitrine"\nexport default defineConfig({ plugins: [Plugin.fromLayer("mine", Layer.empty)] })\n'
        )
        const controller = yield* vitrine("start", "--config", "foreign.config.ts")
        const { status, stderr } = yield* controller.ended
        expect(status).toBe(1)
        expect(stderr).toContain(
          "plugins[0] (mine): Vitrine needs effect 3: expected a Layer of that version"
        )

        yield* write("import.mjs", 'await import("vitrine").catch(({ message }) => console.log(message))\n')
        expect(yield* succeeds(folder, process.execPath, "import.mjs")).toMatch(
          /^"vitrine" needs Effect 3, and this project has effect 4\.\d+\.\d+, .*: npm install effect@3 [^\n]+\.\n$/
        )
      })
    )

    scenario(
      "runs its recipe for Effect 4: events of a PubSub, commands over HTTP, a port in use and SIGTERM",
      () =>
        Effect.gen(function* () {
          const { folder, write } = yield* projectWithPackage
          yield* succeeds(folder, "npm", ...npmInstall, "effect@4", "neverthrow")
          const [recipe] = samplesOf("docs/effect.md").filter(({ info }) => info === "effect4")
          yield* write("controller.ts", `${recipe?.text}\n`)
          yield* write("tsconfig.json", strictly({ module: "nodenext", moduleResolution: "nodenext" }))
          expect(compilerSays(folder)).toEqual([])

          const bin = join(folder, "node_modules/jiti/lib/jiti-cli.mjs")
          const controller = yield* runVitrine(["controller.ts"], { cwd: folder, bin, env: { PORT: "0" } })
          const url = yield* controller.shown(/HTTP transport on (http:\S+): /)
          const events = yield* Effect.promise((signal) => fetch(`${url}/events`, { signal }))
          const send = (command: unknown) =>
            Effect.promise(async () => {
              const answer = await fetch(`${url}/command`, { method: "POST", body: JSON.stringify(command) })
              return [answer.status, await answer.json()]
            })
          expect(yield* send({ type: "lamp.dim", percent: 40 })).toEqual([200, { result: { done: true } }])
          expect(yield* send({ type: "lamp.dim", percent: "half" })).toMatchObject([500, {}])
          const second = yield* runVitrine(["controller.ts"], {
            cwd: folder,
            bin,
            env: { PORT: new URL(url).port }
          })
          expect(yield* second.ended).toMatchObject({
            status: 1,
            stderr: expect.stringContaining(new URL(url).port)
          })
          yield* controller.signal("SIGTERM")
          expect(yield* Effect.promise(() => events.text())).toContain(
            'event: lamp:dimmed\ndata: {"percent":40}\n\n'
          )
          expect(yield* controller.ended).toMatchObject({ status: 0 })
        })
    )

    scenario("is installed by pnpm, without Effect and with it", () =>
      Effect.gen(function* () {
        const project = yield* emptyProject
        const { folder, write } = project
        const { tarball } = yield* Packed
        // The path of the program, so that npx starts once.
        const which = ["--yes", "--prefer-offline", "--package=pnpm@10", "--call=command -v pnpm"]
        const [pnpm = ""] = (yield* succeeds(folder, "npx", ...which)).split("\n")
        yield* succeeds(folder, pnpm, "add", "--prefer-offline", tarball)
        yield* beginsAndRuns(project)
        yield* plainRuns(project)
        yield* succeeds(folder, pnpm, "add", "--prefer-offline", ...lowestPeers)
        yield* write("own.config.ts", ownPlugin)
        yield* runs(project, "own.config.ts")
      })
    )
  })
})
