/**
 * Something that happens in a venue: it is said at the machine, at the hub and in an alert, each within its time, and is over by
 * itself. What is said, and after how many seconds, becomes a row of a table.
 */
import { availableParallelism, loadavg } from "node:os"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type { Problem } from "../../src/services/Problem.ts"
import type { Alerted } from "./alertReceiver.ts"
import {
  hasProblem,
  type Machine,
  playerIs,
  reportedScreenIs,
  screenIs,
  sees,
  type View
} from "./machines.ts"
import { Venue } from "./venue.ts"

/** In seconds, on a machine that is not busy: what is wrong is said so soon where it is, and so much later at the hub. */
export const here = 5
export const atHub = 20

/** Those that say nothing any more are missed so soon. */
export const silentPlayer = 30
export const silentPage = 45

/** A page may be closed or hidden so long. */
export const settling = 15

/** Several problems of one code are collected for a minute, and looked for every few seconds. */
const alerting = 75

/** Pauses between tries end it at last. */
export const healed = 60

/** What a promise in seconds may be exceeded by: by half, and by as much as other programs slow this machine down. */
const patience = () => 1.5 * Math.min(4, Math.max(1, load() / availableParallelism()))

const load = () => loadavg()[0] ?? 0

export type Found = (problem: Problem) => boolean

/** A problem that a player has, as the hub knows it. */
export const reportedBy =
  (player: string, code: string, subject?: string): Found =>
  (problem) =>
    problem.player === player &&
    problem.code === code &&
    (subject === undefined || problem.subject === subject)

/** A problem that the hub finds itself. */
export const isOf =
  (subject: string, code: string): Found =>
  (problem) =>
    problem.player === undefined && problem.subject === subject && problem.code === code

export const allOf =
  (...all: ReadonlyArray<(view: View) => boolean>) =>
  (view: View) =>
    all.every((holds) => holds(view))

export const hasFound =
  (found: Found) =>
  ({ problems }: View): boolean =>
    problems.some(found)

export const isFine = ({ problems }: View): boolean => problems.length === 0

/** What a machine is to say, and within how many seconds. */
export interface Saying {
  readonly at: Machine
  readonly what: string
  readonly within: number
  readonly holds: (view: View) => boolean
}

export const says = (at: Machine, what: string, within: number, holds: (view: View) => boolean): Saying => ({
  at,
  what,
  within,
  holds
})

/** Waits for it, and returns it with its time, for the table. */
const hear = Effect.fnUntraced(function* ({ at, holds, what, within }: Saying) {
  const took = yield* sees(at, what, within * patience(), holds)
  return { isHub: at.name === "hub", text: `${what} ${took.toFixed(1)}/${within}` }
})

export interface Event<R> {
  readonly begins: Effect.Effect<unknown, unknown, R>
  readonly says: ReadonlyArray<Saying>
  /** The problem that is posted. */
  readonly alert: Found
  /** Who posts it. Default: the hub. */
  readonly from?: string
  readonly ends: Effect.Effect<unknown, unknown, R>
  /** What is said then, beside that nothing is said any more of what was said. */
  readonly over?: ReadonlyArray<Saying>
}

/** It begins, is said everywhere, ends, and is over everywhere. Gives the alerts that were posted until it ended. */
export const happens = Effect.fnUntraced(function* <R>(
  name: string,
  { alert, begins, ends, from = "hub", over = [], says: sayings }: Event<R>
) {
  const { desk } = yield* Venue
  const is = (event: Alerted["event"]) => (alerted: Alerted) =>
    alerted.event === event && alerted.from === from && alert(alerted.problem)
  const hearAll = (sayings: ReadonlyArray<Saying>) =>
    Effect.forEach(sayings, hear, { concurrency: "unbounded" })

  const { heard, hears } = yield* desk.listen
  yield* begins
  const posted = Math.max(...sayings.map(({ within }) => within)) + alerting
  const [said, postedAfter] = yield* Effect.all(
    [hearAll(sayings), hears(name, posted * patience(), is("begin"))],
    { concurrency: 2 }
  ).pipe(Effect.tapErrorCause(() => Effect.ignore(ends)))
  const alerts = yield* heard

  const afterwards = yield* desk.listen
  yield* ends
  const gone = sayings.map((saying) =>
    says(saying.at, `no more ${saying.what}`, healed, (view) => !saying.holds(view))
  )
  const [back, , endPostedAfter] = yield* Effect.all(
    [
      hearAll(over),
      hearAll(gone),
      afterwards.hears(`${name} is over`, (healed + alerting) * patience(), is("end"))
    ],
    { concurrency: 3 }
  )
  yield* tabulate(name, {
    machine: said.filter(({ isHub }) => !isHub).map(({ text }) => text),
    hub: said.filter(({ isHub }) => isHub).map(({ text }) => text),
    alert: [`${postedAfter.toFixed(1)}/${posted}`],
    over: [...back.map(({ text }) => text), `alert ${endPostedAfter.toFixed(1)}`]
  })
  return alerts
})

interface Row {
  readonly machine?: ReadonlyArray<string>
  readonly hub?: ReadonlyArray<string>
  readonly alert?: ReadonlyArray<string>
  readonly over?: ReadonlyArray<string>
}

/** Each with the seconds after which it was said, and those within which it is to be said on a quiet machine. */
export const tabulate = (name: string, { alert = [], hub = [], machine = [], over = [] }: Row) =>
  Console.log(
    `| ${[name, ...[machine, hub, alert, over].map((texts) => texts.join(", ") || "–"), `load ${load().toFixed(1)}`].join(" | ")} |`
  )

/** A screen of a player is in this state, which is a problem: at the machine, at the hub and in an alert. */
export const screenFails = <R>(
  name: string,
  { id, ...player }: Machine & { readonly id: string },
  {
    screen = "wall",
    within,
    word,
    wordWithin = within,
    ...event
  }: Pick<Event<R>, "begins" | "ends"> & {
    readonly word: Parameters<typeof screenIs>[1]
    readonly screen?: string
    /** In seconds, until it is a problem, and until it is called so. */
    readonly within: number
    readonly wordWithin?: number
  }
) =>
  Effect.gen(function* () {
    const { hub } = yield* Venue
    const code = `screen:${word}`
    const reported = reportedBy(id, code, screen)
    return yield* happens(name, {
      ...event,
      says: [
        says(player, word, wordWithin, screenIs(screen, word)),
        says(player, "problem", within, hasProblem(code, screen)),
        says(hub, word, wordWithin + atHub, reportedScreenIs(id, screen, word)),
        says(hub, "problem", within + atHub, allOf(playerIs(id, "problem"), hasFound(reported)))
      ],
      alert: reported,
      over: [
        says(player, "showing", healed, screenIs(screen, "showing")),
        says(hub, "up to date", healed + atHub, playerIs(id, "up to date"))
      ]
    })
  })
