/**
 * Announces the problems of a controller when they begin and end: in the log, as events of the bus, and to whatever takes alerts.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import { durationText, withLocalTimes } from "../../internal/readable.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { ControllerState, type Node } from "../../services/ControllerState.ts"
import { EventBus } from "../../services/EventBus.ts"
import { compare, type Found, type ProblemChange, type StandingProblems } from "../status/standingProblems.ts"

/** How often it checks: the state does not say when one begins, because many begin as time goes on. */
const checkEvery = "5 seconds"

/**
 * Checks for problems until the scope ends. Each that has begun is logged, and published as `controller:problem:begin`, with its
 * fields and the node, and when it is over logged again, and published as `controller:problem:end`, with `endedAt` beside them;
 * `take` is given what every check has found.
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

/** Those of the codes in `logs` are logged where they are found. One that has become worse is always logged as an error. */
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
