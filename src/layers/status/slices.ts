/**
 * The slices of a state that Vitrine knows, by their names, and the problems that others report.
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Problem } from "../../services/Problem.ts"
import { type ContentState, Slice } from "../../services/Slices.ts"
import type { GlobalState } from "../../services/StatusSnapshot.ts"

export type Named<S> = readonly [name: string, slice: S]

const decode = Schema.decodeUnknownEither(Slice)

export const slicesOf = ({ plugins }: Pick<GlobalState, "plugins">): ReadonlyArray<Named<Slice>> =>
  Object.entries(plugins).flatMap(([name, slice]) =>
    Either.match(decode(slice), { onLeft: () => [], onRight: (slice) => [[name, slice] as const] })
  )

/** Those of contents among them. */
export const contentsOf = (slices: ReadonlyArray<Named<Slice>>): ReadonlyArray<Named<ContentState>> =>
  slices.flatMap(([name, slice]) => (slice.kind === "content" ? [[name, slice] as const] : []))

const decodeProblem = Schema.decodeUnknownOption(Problem)

/** The `problems` of a slice, or of the data of a source; what is no `Problem` is left out. */
export const reported = (slice: unknown): ReadonlyArray<Problem> =>
  Predicate.hasProperty(slice, "problems") && Array.isArray(slice.problems)
    ? slice.problems.flatMap((problem) => Option.toArray(decodeProblem(problem)))
    : []
