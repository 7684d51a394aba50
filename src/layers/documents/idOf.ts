/**
 * The id of a source, which is the name of its folder as well.
 */
import * as Predicate from "effect/Predicate"
import { isPlainFileName } from "../../internal/FileName.ts"

/** The id in undecoded options; empty where it is none. */
export const idOf = (input: unknown): string =>
  Predicate.hasProperty(input, "id") && Predicate.isString(input.id) && isPlainFileName(input.id)
    ? input.id
    : ""
