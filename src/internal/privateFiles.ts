/**
 * What must not be in a folder that is shown to everybody.
 */
import { access, realpath } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { configurationNames } from "./configurationNames.ts"

const privateNames = [...configurationNames, ".env", ".env.local"]

/**
 * The first of these files that is there and would be shown with the folder: a configuration and its environment, at the top of it or
 * in `base`, or one of `others`. All paths are absolute, or start from the working directory.
 */
export const findPrivate = (
  directory: string,
  base: string,
  others: ReadonlyArray<string> = []
): Effect.Effect<Option.Option<string>> =>
  Effect.promise(async () => {
    const root = await realPlace(directory)
    const candidates = [directory, base].flatMap((folder) => privateNames.map((name) => join(folder, name)))
    for (const file of candidates) {
      const place = await realPlace(file)
      if (isInside(root, place) && (await isThere(place))) return Option.some(file)
    }
    for (const folder of others) {
      if (isInside(root, await realPlace(folder))) return Option.some(folder)
    }
    return Option.none()
  })

const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false
  )

/** Without links in it, as far as it is there. */
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
