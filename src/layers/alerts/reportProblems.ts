/**
 * Announces the problems of a controller when they begin and end: in the log and by events.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { durationText, withLocalTimes } from "../../internal/readable.ts"
import { repeatAfter } from "../../internal/Schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { ControllerState, type Node } from "../../services/ControllerState.ts"
import { EventBus } from "../../services/EventBus.ts"
import { compare, type ProblemChange, type StandingProblems } from "../status/problems.ts"

/** How often it checks. The state does not announce problems, because many begin by the passing of time. */
const checkEvery = "5 seconds"

/**
 * Checks for problems until the scope ends. A new problem is logged and published as `controller:problem:begin`, with
 * its fields and the node, and again if its severity changes. A problem that is over or no longer watched is logged and
 * published as `controller:problem:end`, with `endedAt` in addition.
 */
export const reportProblems = Effect.fnUntraced(function* () {
  const { read } = yield* ControllerState
  const bus = yield* EventBus
  const standing = yield* Ref.make<StandingProblems>(new Map())
  const warning = makeWarnWhile((reason) => `Problems cannot be announced on the event bus: ${reason}`)

  const publish = (change: ProblemChange, node: Node | undefined) =>
    bus
      .publish("endedAt" in change ? "controller:problem:end" : "controller:problem:begin", {
        ...change.problem,
        endedAt: "endedAt" in change ? change.endedAt : undefined,
        node
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
    yield* Effect.forEach(found.changes, (change) => publish(change, header.node), { discard: true })
  })

  yield* check.pipe(
    Effect.catchAllCause((cause) => Effect.logError("Problems could not be determined", cause)),
    repeatAfter(checkEvery),
    Effect.forkScoped
  )
})

/** Codes in `logs` are logged by the plugin that finds them. A problem that has become an error is always logged. */
const log = (change: ProblemChange, logs: ReadonlySet<string>, now: number): Effect.Effect<void> => {
  const { code, player, severity } = change.problem
  const isWorse = change._tag === "Change" && change.isWorse
  if (player === undefined && logs.has(code) && !isWorse && change._tag !== "Unwatched") {
    return Effect.void
  }
  const text = `${prefixOf(change)}${withLocalTimes(change.problem.text, now)}`
  const line =
    "endedAt" in change
      ? Effect.logInfo(text)
      : severity === "error"
        ? Effect.logError(text)
        : Effect.logWarning(text)
  return Effect.annotateLogs(line, "problem", code)
}

const prefixOf = (change: ProblemChange): string => {
  switch (change._tag) {
    case "Begin":
      return change.isAgain ? "There again: " : ""
    case "Change":
      return change.isWorse ? "" : "Better: "
    case "Unwatched":
      return `No longer watched (${change.problem.unwatched}): `
    case "Over": {
      const { endedAt, problem } = change
      return `Over${problem.since === undefined ? "" : ` after ${lasted(problem.since, endedAt)}`}: `
    }
  }
}

const lasted = (since: string, endedAt: string): string =>
  durationText(Date.parse(endedAt) - Date.parse(since))
