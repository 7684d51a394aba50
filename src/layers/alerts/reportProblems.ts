/**
 * Announces the problems of a controller when they begin and end: in the log, by events, and to a receiver of alerts.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import { durationText, withLocalTimes } from "../../internal/readable.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { ControllerState, type Node } from "../../services/ControllerState.ts"
import { EventBus } from "../../services/EventBus.ts"
import { compare, type Found, type ProblemChange, type StandingProblems } from "../status/problems.ts"

/** How often it checks. The state does not announce problems, because many begin by the passing of time. */
const checkEvery = "5 seconds"

/**
 * Checks for problems until the scope ends. A new problem is logged and published as `controller:problem:begin`, with
 * its fields and the node. An ended problem is logged and published as `controller:problem:end`, with `endedAt` in
 * addition. `take` gets the result of each check.
 */
export const reportProblems = Effect.fnUntraced(function* (
  take: (found: Found) => Effect.Effect<void> = () => Effect.void
) {
  const { read } = yield* ControllerState
  const bus = yield* EventBus
  const standing = yield* Ref.make<StandingProblems>(new Map())
  const warning = makeWarnWhile((reason) => `Problems cannot be announced on the event bus: ${reason}`)

  const publish = (change: ProblemChange, node: Node | undefined) =>
    bus
      .publish(change._tag === "Begin" ? "controller:problem:begin" : "controller:problem:end", {
        ...change.problem,
        ...(change._tag === "Begin" ? {} : { endedAt: change.endedAt }),
        ...(node === undefined ? {} : { node })
      })
      .pipe(
        Effect.zipRight(warning.works),
        Effect.catchAll(({ message }) => warning.fails(message))
      )

  const check = Effect.gen(function* () {
    const { logs, view } = yield* read
    const { header, now, problems } = view
    const found = compare(yield* Ref.get(standing), problems, new Date(now).toISOString())
    yield* Ref.set(standing, found.standing)
    yield* Effect.forEach(found.changes, (change) => log(change, logs, now), { discard: true })
    yield* take(found)
    yield* Effect.forEach(found.changes, (change) => publish(change, header.node), { discard: true })
  })

  yield* check.pipe(
    Effect.catchAllCause((cause) => Effect.logError("Problems could not be determined", cause)),
    Effect.repeat(Schedule.spaced(checkEvery)),
    Effect.forkScoped
  )
})

/** Codes in `logs` are logged by the plugin that finds them. A problem that has become an error is always logged. */
const log = (change: ProblemChange, logs: ReadonlySet<string>, now: number): Effect.Effect<void> => {
  const { code, player, severity, since } = change.problem
  const text = withLocalTimes(change.problem.text, now)
  if (player === undefined && logs.has(code) && !(change._tag === "Begin" && change.isWorse)) {
    return Effect.void
  }
  const line =
    change._tag === "End"
      ? Effect.logInfo(`Over${since === undefined ? "" : ` after ${lasted(since, change.endedAt)}`}: ${text}`)
      : severity === "error"
        ? Effect.logError(text)
        : Effect.logWarning(text)
  return Effect.annotateLogs(line, "problem", code)
}

const lasted = (since: string, endedAt: string): string =>
  durationText(Date.parse(endedAt) - Date.parse(since))
