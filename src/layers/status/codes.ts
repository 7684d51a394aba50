/**
 * Codes of problems that decide the health of the whole, or that the report to a hub omits.
 */
export const codes = { none: "content:none", held: "content:held", hubSilent: "hub:silent" } as const
