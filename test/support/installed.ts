/**
 * The packed package in separate projects, beside the packages of the repository.
 */
import { execFileSync } from "node:child_process"
import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { read, repository } from "./documents.ts"
import { newFolder, Packed } from "./packed.ts"

const { dependencies, peerDependencies } = JSON.parse(read("package.json"))

/** The folder of a project with the package and its peers in it. */
export class Installed extends Context.Tag("test/Installed")<Installed, string>() {}

/** Unpacks the package into its own project, with what it finds there by these names. */
export const install = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* newFolder
  const link = Effect.fnUntraced(function* (target: string, path: string) {
    yield* fs.makeDirectory(dirname(path), { recursive: true })
    yield* fs.symlink(target, path)
  })
  const { tarball } = yield* Packed
  const modules = join(folder, "node_modules")
  yield* fs.makeDirectory(join(modules, "vitrine"), { recursive: true })
  execFileSync("tar", ["-xzf", tarball, "-C", join(modules, "vitrine"), "--strip-components", "1"])
  for (const name of names) {
    yield* link(join(repository, "node_modules", name), join(modules, name))
  }
  yield* link("../vitrine/dist/bin.cjs", join(modules, ".bin/vitrine"))
  yield* fs.writeFileString(join(folder, "package.json"), '{ "type": "module" }\n')
  return folder
})

/** The names of the packages that a project with Effect has. */
export const peersAndDependencies = Object.keys({ ...dependencies, ...peerDependencies })

const installed = Layer.scoped(Installed, install(peersAndDependencies))

/** What a file of tests of the package needs. */
export const environment = installed.pipe(
  Layer.provideMerge(Packed.layer),
  Layer.provideMerge(NodeContext.layer)
)
