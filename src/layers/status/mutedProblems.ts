/**
 * Problems that somebody has muted for a while: they are listed, but raise no alert and do not affect the health. Pure.
 */
import * as Order from "effect/Order"
import type { Mute, Problem } from "../../services/Problem.ts"
import type { GlobalState, Section } from "../../services/StatusSnapshot.ts"
import { errorsFirst, firstRows, kv, muteText } from "./rows.ts"
import { mutesOf as slicesOfMutes } from "./slices.ts"

type State = Pick<GlobalState, "plugins">

/** The mutes that have not ended; the one that ends last comes first. */
export const mutesOf = (state: State, now: number): ReadonlyArray<Mute> =>
  slicesOfMutes(state)
    .flatMap(([, { mutes }]) => mutes.filter(({ until }) => now < Date.parse(until)))
    .toSorted(Order.reverse(Order.mapInput(Order.string, ({ until }) => until)))

/**
 * Whether the name means this problem: its code, its subject, its player or a player behind that one, or all parts as
 * `PLAYER CODE SUBJECT`.
 */
export const isNamed = ({ code, player, subject }: Problem, name: string): boolean =>
  name === code ||
  name === subject ||
  name === [player, code, subject].filter((part) => part !== undefined).join(" ") ||
  name === player ||
  player?.startsWith(`${name}/`) === true

/** Marks the muted problems, and puts them last. A mark that a problem brings itself is removed. */
export const withMutes = (state: State, now: number) => {
  const mutes = mutesOf(state, now)
  return (problems: ReadonlyArray<Problem>): ReadonlyArray<Problem> =>
    errorsFirst(
      problems.map(({ muted: _, ...problem }) => {
        const muted = mutes.find(({ name }) => isNamed(problem, name))
        return muted === undefined ? problem : { ...problem, muted }
      })
    )
}

/** Empty if nothing is muted. */
export const muteSections = (state: State, now: number): ReadonlyArray<Section> => {
  const mutes = mutesOf(state, now)
  return mutes.length === 0
    ? []
    : [
        {
          name: "mutes",
          order: 39,
          title: "Muted",
          rows: firstRows(mutes, (mute) => kv(mute.name, muteText(mute), "neutral"))
        }
      ]
}
