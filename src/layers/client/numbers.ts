/** Checks numbers in the options of a page: durations in milliseconds, and bytes. */
import type { Options } from "./Options.ts"

/** The value, or with a warning `otherwise`, if the value is not a number or is too small. */
export const numberOf = (name: string, value: unknown, otherwise: number, least: number): number => {
  if (typeof value === "number" && value >= least) {
    return value
  }
  console.warn(`${name} is ${otherwise}: ${value} is no number from ${least} on`)
  return otherwise
}

export const withNumbers = <Loaded>(options: Options<Loaded>) => {
  const { keepBytes = 67_108_864, maxDefer = 300_000, pollEvery = 5000 } = options
  return {
    ...options,
    keepBytes: numberOf("keepBytes", keepBytes, 67_108_864, 0),
    maxDefer: numberOf("maxDefer", maxDefer, 300_000, 0),
    pollEvery: numberOf("pollEvery", pollEvery, 5000, 100)
  }
}
