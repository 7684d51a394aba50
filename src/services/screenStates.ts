/**
 * The states of screens and players. Needs no other library: short commands load it.
 */

/** The state of a screen, from the worst. */
export const screenStates = [
  "problem",
  "silent",
  "closed",
  "hidden",
  "never seen",
  "behind",
  "showing",
  "closed for the day"
] as const

/** The state of a player, from the worst. */
export const playerStates = [
  "silent",
  "never seen",
  "problem",
  "behind",
  "held",
  "copying",
  "up to date",
  "stopped",
  "closed for the day"
] as const
