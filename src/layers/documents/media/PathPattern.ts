/**
 * Patterns of paths in a document: `**.image.url`.
 *
 * `*` is one level, a name or an item of a list; `**` is any number of levels, none included. A backslash before a dot, a star
 * or a backslash makes it part of a name.
 */
import * as Option from "effect/Option"

const anyLevel = Symbol("*")
const anyDepth = Symbol("**")

/** The levels from the top of a document: names, and the numbers of items as text. */
export type DocumentPath = ReadonlyArray<string>

/** A place in a document. It shares the places around it with its neighbours. */
export interface Trail {
  readonly parent: Trail | undefined
  readonly level: string
  /** Its text for all items of a list, once it was asked for. */
  text?: string
}

/** The field at a place, as a pattern. */
export const fieldOf = (trail: Trail | undefined): string => {
  const path: Array<string> = []
  for (let place = trail; place !== undefined; place = place.parent) path.unshift(place.level)
  return format(path)
}

/** The same pattern for all items of a list. */
export const patternOf = (trail: Trail): string => {
  if (trail.text === undefined) {
    const { level, parent } = trail
    const own = /^\d+$/.test(level) ? "*" : format([level])
    trail.text = parent === undefined ? own : `${patternOf(parent)}.${own}`
  }
  return trail.text
}

export type PathPattern = ReadonlyArray<string | typeof anyLevel | typeof anyDepth>

/** `None` if a level is empty, or nothing follows a backslash. */
export const parse = (text: string): Option.Option<PathPattern> => {
  const levels = text.match(/(?:\\.|[^\\.])+|\.|\\$/gsu) ?? []
  const isPattern =
    levels.length % 2 === 1 && levels.every((level, index) => (level === ".") === (index % 2 === 1))
  return isPattern && levels.at(-1) !== "\\"
    ? Option.some(levels.filter((_, index) => index % 2 === 0).map(levelOf))
    : Option.none()
}

const levelOf = (text: string) =>
  text === "*" ? anyLevel : text === "**" ? anyDepth : text.replace(/\\(.)/gsu, "$1")

/** A path as a pattern that matches only this path. */
export const format = (path: DocumentPath): string =>
  path.map((level) => level.replace(/[\\.*]/g, "\\$&")).join(".")

/** The time grows at most with the product of both lengths. */
export const matches = (pattern: PathPattern, path: DocumentPath): boolean => {
  let step = 0
  let level = 0
  /** The last `**`, and the end of the levels that it covers so far. */
  let depth = -1
  let covered = 0
  while (level < path.length) {
    const wanted = pattern[step]
    if (wanted === anyDepth) {
      depth = step++
      covered = level
    } else if (wanted !== undefined && (wanted === anyLevel || wanted === path[level])) {
      step++
      level++
    } else if (depth >= 0) {
      step = depth + 1
      level = ++covered
    } else {
      return false
    }
  }
  return pattern.slice(step).every((rest) => rest === anyDepth)
}
