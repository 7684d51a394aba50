/**
 * Makes the view from the parts that plugins give, with the health in one word: the same on the dashboard, at `GET /healthz` and
 * in `vitrine status`. Knows no plugin by name.
 */
import * as Array from "effect/Array"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as String from "effect/String"
import { messageOf } from "../../internal/SerializedError.ts"
import type { GlobalState, MakeReport, PluginReport, ReportContext } from "../../services/ControllerState.ts"
import type { MakeView, PluginFacts, Unread, ViewInput } from "../../services/PluginFacts.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Health } from "../../services/View.ts"
import {
  keyOf,
  moved,
  muteSections,
  mutesOf,
  nothingRemembered,
  type Owned,
  type Remembered,
  recall,
  remember,
  unwatchedBy,
  withMutes
} from "./problems.ts"
import { isCounted, problemRow, toneOf, tones } from "./rows.ts"
import { reported, takesReports } from "./slices.ts"

const defaultOrder = 50

type Reports = ReadonlyArray<readonly [plugin: string, report: PluginReport]>

/**
 * Judges the screens and players of a state. `readAt` is the time at which the fields of a plugin were read, `knownSince`
 * the time of the first view with fields, `startedAt` that of the start of the controller; both by the present time of day.
 */
export type Judge = (
  input: Pick<ReportContext, "now" | "state"> & {
    readonly readAt: (plugin: string) => number
    readonly knownSince: (plugin: string) => number | undefined
    readonly startedAt: number
  }
) => Pick<ReportContext, "players" | "screens"> & { readonly reports: Reports }

export const viewOf =
  (judge: Judge): MakeView<Remembered> =>
  (input, before = nothingRemembered) => {
    const { now, plugins, system, uptimeMs } = input
    const state = { system, plugins: slicesIn(plugins), _version: input.version }
    const times = new Map(
      plugins.flatMap(({ name, readAt }) => (readAt === undefined ? [] : [[name, readAt]]))
    )
    const readAt = (plugin: string) => times.get(plugin) ?? now
    const since = before === nothingRemembered ? 0 : uptimeMs
    const known = plugins.flatMap(({ fields, name, unread }) =>
      fields === undefined && unread !== undefined ? [] : [[name, since] as const]
    )
    const knownSince = new Map([...known, ...before.knownSince])
    // By the present time of day, which somebody may have set since the start.
    const startedAt = now - uptimeMs
    const presentSince = new Map([...knownSince].map(([name, at]) => [name, startedAt + at]))
    const {
      players,
      reports: judged,
      screens
    } = judge({
      now,
      readAt,
      knownSince: (plugin) => presentSince.get(plugin),
      startedAt,
      state
    })
    const made = reportsOf(input, { now, state, screens, players }, before.reports)
    const reports = [...judged, ...made.map(({ name, report }) => [name, report] as const)]
    const all = reports.map(([, report]) => report)
    const at = new Date(now).toISOString()
    const { problems: standing, remembered } = remember(
      recall(moved(before, startedAt), all.find(({ earlier }) => earlier !== undefined)?.earlier, at),
      foundIn({ now, players, reports, screens, state }),
      at,
      unwatchedBy(reports, uptimeMs)
    )
    // A mute may be about a problem that is no longer watched.
    const problems = withMutes(state, now)(standing)
    const sections = [...all.flatMap(({ sections = [] }) => sections), ...muteSections(state, now)]
    const { mode, node, startTime } = system
    const view = {
      header: { startTime, uptimeMs, mode, node },
      sections: sections.toSorted(
        (one, other) => (one.order ?? defaultOrder) - (other.order ?? defaultOrder)
      ),
      now,
      word: healthOf(problems),
      problems,
      contents: all.flatMap(({ content }) => (content === undefined ? [] : [content])),
      screens,
      players: takesReports(state) ? players : undefined,
      mutes: mutesOf(state, now),
      dashboard: all.find(({ dashboard }) => dashboard !== undefined)?.dashboard
    }
    return {
      snapshot: {
        view,
        state: { ...state, problems },
        metrics: () => all.flatMap(({ metrics }) => metrics?.() ?? []),
        logs: new Set(all.flatMap(({ logs = [] }) => logs)),
        owned: problems.map((problem) => ({
          plugin: remembered.standing.get(keyOf(problem))?.plugin ?? "",
          problem
        }))
      },
      remembered: { ...remembered, knownSince, reports: new Map(made.map(({ last, name }) => [name, last])) }
    }
  }

/** The slices, with the live fields. The registered slice replaces live fields that are old. */
const slicesIn = (plugins: ReadonlyArray<PluginFacts>): GlobalState["plugins"] =>
  Object.fromEntries(
    plugins.flatMap(({ fields, name, readAt, slice }) => {
      if (fields === undefined) {
        return slice === undefined ? [] : [[name, slice]]
      }
      const registered = Predicate.isRecord(slice) ? slice : {}
      const merged = readAt === undefined ? { ...registered, ...fields } : { ...fields, ...registered }
      return Record.isEmptyRecord(merged) ? [] : [[name, merged]]
    })
  )

/** How long the fields of a plugin cannot be read before that is a problem, and an error of a content, in milliseconds. */
const unreadMs = 10_000
const lostMs = 60_000

/**
 * The report of each plugin. A report that throws is replaced by the last one. If fields cannot be read, or a report
 * throws, that is a problem, which stands first in the first section of the plugin.
 */
const reportsOf = (
  { now, plugins }: Pick<ViewInput, "now" | "plugins">,
  context: ReportContext,
  before: Remembered["reports"]
) =>
  plugins.map(({ fields, name, readAt, report = reportOfProblems(name), unread }) => {
    const known = before.get(name)
    const made = Either.try({
      try: () =>
        report(Option.getOrUndefined(Record.get(context.state.plugins, name)), {
          ...context,
          now: readAt ?? now
        }),
      catch: (error): Unread => {
        const since = known?.failingSince ?? now
        return { since, lastsMs: now - since, reason: messageOf(error) }
      }
    })
    const last = Either.match(made, {
      onLeft: ({ since }) => ({ report: known?.report ?? notKnown, failingSince: since }),
      onRight: (report) => ({ report: fields === undefined && unread ? { ...report, ...notKnown } : report })
    })
    const failed = Either.match(made, {
      onLeft: identity,
      onRight: () => (unread !== undefined && unread.lastsMs >= unreadMs ? unread : undefined)
    })
    return {
      name,
      last,
      report: failed === undefined ? last.report : withUnread(name, last.report, failed)
    }
  })

/** Nothing was read yet, so no problem is over. */
const notKnown: PluginReport = { unwatched: () => "not known" }

const withUnread = (name: string, report: PluginReport, { lastsMs, reason, since }: Unread): PluginReport => {
  const { content, problems = [], sections = [] } = report
  const at = new Date(since).toISOString()
  const problem: Problem = {
    code: codes.unread,
    severity: content !== undefined && lastsMs >= lostMs ? "error" : "warning",
    subject: name,
    text: `The state of "${name}" cannot be read since ${at}: ${reason ?? "a disk may hang"}. The status shows what was read last`,
    since: at
  }
  const [first = { name, title: String.capitalize(name), rows: [] }, ...others] = sections
  return {
    ...report,
    problems: [problem, ...problems],
    sections: [{ ...first, rows: [problemRow(problem), ...first.rows] }, ...others]
  }
}

/** The report of a plugin that makes none: the problems of its slice. */
export const reportOfProblems =
  (name: string): MakeReport =>
  (slice, { now, state }) => {
    const problems = reported(slice)
    const rows = withMutes(state, now)(problems).map(problemRow)
    return {
      problems,
      sections: rows.length === 0 ? [] : [{ name, title: String.capitalize(name), rows }],
      unwatched: slice === undefined ? notKnown.unwatched : undefined
    }
  }

/** Errors first. Problems of unexpected players come last, because anybody could make them up. */
const foundIn = ({
  now,
  players,
  reports,
  screens,
  state
}: ReportContext & { readonly reports: Reports }): ReadonlyArray<Owned> => {
  const mark = withMutes(state, now)
  const owned = (plugin: string, problems: ReadonlyArray<Problem>) =>
    problems.map((problem): Owned => ({ plugin, problem }))
  const expected = new Set((state.system.players ?? []).map(({ id }) => id))
  const [others, known] = Array.partition(
    [
      ...reports.flatMap(([plugin, { problems = [] }]) => owned(plugin, problems)),
      ...screens.flatMap(({ problems }) => owned("screens", problems)),
      ...players.flatMap(({ problems }) => owned("players", problems))
    ],
    ({ problem: { player } }) => player === undefined || expected.has(player.split("/", 1).join())
  )
  return [known, others].flatMap((all) => {
    const marked = all.map(({ plugin, problem }) => ({ plugin, problem: mark([problem])[0] ?? problem }))
    return tones.flatMap((tone) => marked.filter(({ problem }) => toneOf(problem) === tone))
  })
}

/** The worst word that applies. Muted and unwatched problems do not count. Problems of players count by their severity only. */
export const healthOf = (problems: ReadonlyArray<Problem>): Health => {
  const counted = problems.filter(isCounted)
  const has = (code: string) =>
    counted.some((problem) => problem.code === code && problem.player === undefined)
  return has(codes.none)
    ? "NO CONTENT"
    : counted.some(({ severity }) => severity === "error")
      ? "FAILING"
      : has(codes.held)
        ? "HELD"
        : counted.length > 0
          ? "WARNING"
          : "OK"
}

/** Codes of problems that decide the health of the whole, or that the report to a hub omits. */
export const codes = {
  none: "content:none",
  held: "content:held",
  hubSilent: "hub:silent",
  unread: "state:unread"
} as const
