/**
 * Says what is wrong with a value that a user made with another major version of Effect. Effect itself would fail
 * with `Not a valid effect: undefined`.
 */
export const needsEffect3 = (expected: "a Layer" | "an Effect") =>
  `Vitrine needs effect 3: expected ${expected} of that version`
