/**
 * Announces the problems of a controller when they begin and end: in the log, as events of the bus, and to whatever takes alerts.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import { durationText } from "../../internal/readable.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { ControllerState, type Node } from "../../services/ControllerState.ts"
import { EventBus } from "../../services/EventBus.ts"
import { problemsOf } from "../status/Health.ts"
import { compare, type Found, type ProblemChange, type StandingProblems } from "./problemChanges.ts"

/** How often it checks: the state does not say when one begins, because many begin as time goes on. */
const checkEvery = "5 seconds"

/** Codes of problems that are logged where they are found, with more than one sentence says, and so are their ends. */
const loggedWhereFound: ReadonlySet<string> = new Set([
  "content:failing",
  "content:held",
  "content:none",
  "content:upstream",
  "dashboard:no-events",
  "hub:silent",
  "nats:away",
  "nats:commands",
  "nats:unpublished",
  "source:changes",
  "source:waiting",
  "source:warning",
  "transport:no-events"
])

/**
 * Checks for problems until the scope ends. Each that has begun is logged, and published as `controller:problem:begin`, with its
 * fields and the node, and when it is over logged again, and published as `controller:problem:end`, with `endedAt` beside them;
 * `take` is given what every check has found.
 */
export const reportProblems = Effect.fnUntraced(function* (
  take: (found: Found) => Effect.Effect<void> = () => Effect.void
) {
  const { state } = yield* ControllerState
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
    const now = yield* Clock.currentTimeMillis
    const read = yield* state
    const found = compare(yield* Ref.get(standing), problemsOf(read, now), new Date(now).toISOString())
    yield* Ref.set(standing, found.standing)
    yield* Effect.forEach(found.changes, log, { discard: true })
    yield* take(found)
    yield* Effect.forEach(found.changes, (change) => publish(change, read.system.node), { discard: true })
  })

  yield* check.pipe(
    Effect.catchAllCause((cause) => Effect.logError("Problems could not be looked for", cause)),
    Effect.repeat(Schedule.spaced(checkEvery)),
    Effect.forkScoped
  )
})

/** One that has become worse is in the log as an error in any case. */
const log = (change: ProblemChange): Effect.Effect<void> => {
  const { code, severity, since, text } = change.problem
  if (loggedWhereFound.has(code) && !(change._tag === "Begin" && change.isWorse)) {
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
