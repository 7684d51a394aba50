/**
 * Private files, which must not be in a folder that is served to everybody.
 */
import { access, realpath } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { configurationNames } from "../internal/configurationNames.ts"

const privateNames = [...configurationNames, ".env", ".env.local"]

/** The loaded configuration, the given environment file, and the downloads, if they are known. */
export class PrivateFiles extends Context.Reference<PrivateFiles>()("vitrine/PrivateFiles", {
  defaultValue: (): ReadonlyArray<string> => []
}) {}

/** Adds files and folders, absolute or from the working directory. */
export const withPrivate =
  (...files: ReadonlyArray<string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(PrivateFiles, (others) =>
      Effect.provideService(effect, PrivateFiles, [...others, ...files])
    )

/**
 * The first private file that would be served with the folder: a configuration or its environment, at the top of the
 * folder or in `base`, or one of `PrivateFiles`. All paths are absolute, or start from the working directory. `call`
 * calls the disk, which may hang.
 */
export const findPrivate = Effect.fnUntraced(function* <E = never>(
  directory: string,
  base: string,
  call: <A>(look: () => Promise<A>) => Effect.Effect<A, E> = Effect.promise
) {
  const others = yield* PrivateFiles
  const look = async (): Promise<Option.Option<string>> => {
    const root = await realPlace(directory)
    const candidates = [directory, base].flatMap((folder) => privateNames.map((name) => join(folder, name)))
    for (const file of candidates) {
      const place = await realPlace(file)
      if (isInside(root, place) && (await isThere(place))) return Option.some(file)
    }
    for (const file of others) {
      if (isInside(root, await realPlace(file))) return Option.some(resolve(file))
    }
    return Option.none()
  }
  return yield* call(look)
})

const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false
  )

/** The path with all links resolved, up to the last part that exists. */
const realPlace = async (place: string): Promise<string> => {
  const absolute = resolve(place)
  const above = dirname(absolute)
  return realpath(absolute).catch(async () =>
    above === absolute ? absolute : join(await realPlace(above), relative(above, absolute))
  )
}

const isInside = (root: string, place: string): boolean => {
  const way = relative(root, place)
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
