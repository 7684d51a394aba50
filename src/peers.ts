/**
 * The packages of Effect that the project has installed, by which the command line and `import "vitrine"` decide what can run.
 *
 * It imports nothing but Node's modules: it runs before a package that may be missing is loaded.
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

/** What the modules need, by the beginning of its version. */
const peers = { effect: "3.", "@effect/platform": "0.", "@effect/platform-node": "0." }

/** The packages that the modules cannot run with, as in `effect 4.1.0`, and those that are missing. */
const unfitPeers = (): ReadonlyArray<string> =>
  Object.entries(peers).flatMap(([name, beginning]) => {
    const version = installedVersion(name)
    return version.startsWith(beginning) ? [] : [version === "" ? `no ${name}` : `${name} ${version}`]
  })

/** Whether the modules can run with what is installed. */
export const hasPeers = (): boolean => unfitPeers().length === 0

/** Throws an error that says what to install if the modules cannot run with what is installed. */
export const requirePeers = (): void => {
  const unfit = unfitPeers()
  if (unfit.length > 0) {
    throw new Error(
      `"vitrine" needs Effect 3, and this project has ${unfit.join(", ")}: npm install effect@3 @effect/platform@0 @effect/platform-node@0, or import "vitrine/plain", which runs beside any version of Effect.`
    )
  }
}
