/**
 * The slices of a state: the slices of one kind, their problems, and the report of one slice.
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { issueText, placedIssues } from "../../internal/Options.ts"
import type { MakeReport, PluginReport, ReportContext } from "../../services/ControllerState.ts"
import { Problem } from "../../services/Problem.ts"
import { ContentServerState, ContentState, Mutes, Stop, TransportState } from "../../services/Slices.ts"
import type { GlobalState } from "../../services/StatusSnapshot.ts"

export type Named<S> = readonly [name: string, slice: S]

type Plugins = Pick<GlobalState, "plugins">

interface SlicesOf<S> {
  (state: Plugins): ReadonlyArray<Named<S>>
  readonly schema: Schema.Schema<S>
}

/** The slices of one kind, by their names. Each state is searched once, however often it is asked. */
export const slicesOf = <S, I>(schema: Schema.Schema<S, I>): SlicesOf<S> => {
  const is = Schema.is(schema)
  const found = new WeakMap<object, ReadonlyArray<Named<S>>>()
  const find = ({ plugins }: Plugins): ReadonlyArray<Named<S>> => {
    const slices =
      found.get(plugins) ??
      Object.entries(plugins).flatMap(([name, slice]) => (is(slice) ? [[name, slice] as const] : []))
    found.set(plugins, slices)
    return slices
  }
  return Object.assign(find, { schema: Schema.typeSchema(schema) })
}

export const contentsOf = slicesOf(ContentState)
export const transportsOf = slicesOf(TransportState)
export const contentServersOf = slicesOf(ContentServerState)
export const stopsOf = slicesOf(Stop)
export const mutesOf = slicesOf(Mutes)

/** Whether players can report to this machine. */
export const takesReports = (state: Plugins): boolean =>
  contentServersOf(state).some(([, { players }]) => players !== undefined)

const decodeProblem = Schema.decodeUnknownOption(Problem)

/** The `problems` of a slice, or of the data of a source. Invalid problems are dropped. */
export const reported = (slice: unknown): ReadonlyArray<Problem> =>
  Predicate.hasProperty(slice, "problems") && Array.isArray(slice.problems)
    ? slice.problems.flatMap((problem) => Option.toArray(decodeProblem(problem)))
    : []

/** The report of the slice of this kind and name. A missing slice gives an empty report, an invalid slice a problem. */
export const reportOf =
  <S>(
    slicesOfKind: SlicesOf<S>,
    name: string,
    report: (slice: S, context: ReportContext) => PluginReport
  ): MakeReport =>
  (slice, context) => {
    const found = slicesOfKind(context.state).find(([other]) => other === name)
    if (found !== undefined) return report(found[1], context)
    return {
      problems: Predicate.hasProperty(slice, "kind") ? [invalid(slicesOfKind, name, slice)] : [],
      unwatched: () => "not known"
    }
  }

const invalid = <S>({ schema }: SlicesOf<S>, name: string, slice: unknown): Problem => ({
  code: "state:invalid",
  severity: "error",
  subject: name,
  text: `The state of "${name}" is not as expected, so its status is not known. ${Either.match(
    Schema.validateEither(schema)(slice),
    { onLeft: (error) => issueText(placedIssues(error)), onRight: () => "" }
  )}`
})

/** The title of a section, with the name of the plugin if it differs from the kind. */
export const titleOf = (title: string, name: string, { kind }: { readonly kind: string }): string =>
  name === kind ? title : `${title}: ${name}`
