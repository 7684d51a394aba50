/**
 * Codes of problems that decide about the health of the whole, and what a hub need not be sent.
 */
export const codes = { none: "content:none", held: "content:held", hubSilent: "hub:silent" } as const
