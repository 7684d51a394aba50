/** Durations that a page gives, in milliseconds. */
import type { Options } from "./Options.ts"

/** In the place of what is no duration, or too short, another is taken, with a warning. */
export const durationOf = (name: string, value: unknown, otherwise: number, least: number): number => {
  if (typeof value === "number" && value >= least) {
    return value
  }
  console.warn(`${name} is ${otherwise}: ${value} is no time from ${least} ms on`)
  return otherwise
}

export const withDurations = <Loaded>(options: Options<Loaded>) => {
  const { maxDefer = 300_000, pollEvery = 5000 } = options
  return {
    ...options,
    maxDefer: durationOf("maxDefer", maxDefer, 300_000, 0),
    pollEvery: durationOf("pollEvery", pollEvery, 5000, 100)
  }
}
