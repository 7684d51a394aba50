/**
 * Order statistics.
 */

/** The value below which the share of all values lies; NaN without values. */
export const quantile = (values: Iterable<number>, share: number): number => {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: Iterable<number>): number => quantile(values, 0.5)
