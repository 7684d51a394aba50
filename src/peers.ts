/**
 * Checks the packages of Effect that the project has installed, for the command line and `import "vitrine"`.
 *
 * Imports only Node's modules, because it runs before packages are loaded that may be missing.
 */
import { createRequire } from "node:module"

const require = createRequire(import.meta.url)

/** The version of a package; empty if the package is not installed. */
export const installedVersion = (name: string): string => {
  try {
    return require(`${name}/package.json`).version
  } catch {
    return ""
  }
}

/** The packages that the modules need, with the beginning of their versions. */
const peers = { effect: "3.", "@effect/platform": "0.", "@effect/platform-node": "0." }

/** The packages with the wrong version, as in `effect 4.1.0`, and the missing packages, as in `no effect`. */
const unfitPeers = (): ReadonlyArray<string> =>
  Object.entries(peers).flatMap(([name, beginning]) => {
    const version = installedVersion(name)
    return version.startsWith(beginning) ? [] : [version === "" ? `no ${name}` : `${name} ${version}`]
  })

/** Whether the modules can run with the installed packages. */
export const hasPeers = (): boolean => unfitPeers().length === 0

/** Throws if the modules cannot run with the installed packages. The error says what to install. */
export const requirePeers = (): void => {
  const unfit = unfitPeers()
  if (unfit.length > 0) {
    throw new Error(
      `"vitrine" needs Effect 3, and this project has ${unfit.join(", ")}: npm install effect@3 @effect/platform@0 @effect/platform-node@0, or import "vitrine/plain", which runs beside any version of Effect.`
    )
  }
}
