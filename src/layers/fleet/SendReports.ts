/**
 * Sends reports of a player to its hub: at each change, every ten seconds, and once more when it was asked to end.
 *
 * Only the newest report is sent: while the hub does not take them, nothing waits for it.
 */
import { randomUUID } from "node:crypto"
import { statfs } from "node:fs/promises"
import { hostname } from "node:os"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { makeLogTail } from "../../internal/logTail.ts"
import { printableLine } from "../../internal/printable.ts"
import { whenChanged } from "../../internal/Schedules.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { vitrineVersion } from "../../internal/vitrineVersion.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { CommandBus } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { type PlayerReport, type ReportAnswer, reportEvery } from "../../services/PlayerReport.ts"
import type { PluginContext } from "../../services/Plugin.ts"
import type { Reports } from "../../services/Slices.ts"
import * as Subscription from "../fanOut/Subscription.ts"
import { stopsOf } from "../status/slices.ts"
import { makeReport } from "./makeReport.ts"
import * as PostReport from "./PostReport.ts"
import type { ReportOptions } from "./ReportOptions.ts"

export interface Settings extends ReportOptions {
  /** The name of the content that is copied. */
  readonly content: string
  /** Where its versions are. */
  readonly directory: string
  /** That of the controller. */
  readonly addLogger: PluginContext["addLogger"]
}

export interface SendReports {
  /** Runs until the scope of `make` ends. Then the hub is told who ended it, unless that is a failure. */
  readonly start: Effect.Effect<void>
  /** What becomes of the reports, for the state. */
  readonly state: Effect.Effect<Reports>
}

/** The pause between two reports at least. */
const shortestPause = "1 second"

/** While a version is copied, in milliseconds, so that its progress is seen. */
const copyingPause = 2000

/** How much of the log is sent. */
const warnings = { minimum: LogLevel.Warning, maxLines: 10, maxLength: 300 }

/** Identifies this process, also among copies of this machine. */
const runId = randomUUID()

export const make = Effect.fnUntraced(function* ({ addLogger, content, directory, to, token }: Settings) {
  const { read, state } = yield* ControllerState
  const { dispatch } = yield* CommandBus
  const scope = yield* Effect.scope
  const post = yield* PostReport.make({ to, token })
  const reports = yield* Ref.make<Reports>({ to })
  const last = yield* Ref.make(Option.none<PlayerReport>())
  const warning = makeWarnWhile(
    (reason) => `Reports are not taken by ${to}, and are sent until they are: ${reason}`
  )
  const log = makeLogTail(warnings)
  yield* addLogger(log.logger)

  const changed = yield* Queue.sliding<void>(1)
  const { feeds } = yield* Subscription.make("What is reported to the hub")
  yield* Stream.flatMap(feeds, ({ events }) => events).pipe(
    Stream.filter(({ name }) => isChange(name, content)),
    Stream.runForEachChunk(() => Queue.offer(changed, undefined)),
    Effect.forkScoped
  )

  const report = Effect.gen(function* () {
    const machine = {
      content,
      vitrine: vitrineVersion,
      host: hostname(),
      runId,
      ...(yield* freeBytes(directory)),
      warnings: log.lines().map(({ at, text }) => `${at} ${text}`)
    }
    return makeReport((yield* read).view, machine)
  })

  const timestamp = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toISOString())

  /** Screens are asked here as by somebody at this machine. */
  const ask = ({ action, screen, ...by }: NonNullable<ReportAnswer["actions"]>[number]) =>
    Effect.catchAll(dispatch({ ...by, screen, action, type: `${content}.screen` }), ({ message }) =>
      Effect.logWarning(`The hub asks a screen for an action: ${printableLine(message, maxReason)}`)
    )

  const taken = Effect.fnUntraced(function* ({ actions = [], vitrine }: ReportAnswer) {
    if (yield* warning.isFailing) {
      yield* Effect.logInfo(`Reports are accepted by ${to} again`)
    }
    yield* warning.works
    yield* Ref.set(reports, { to, takenAt: yield* timestamp, vitrine })
    yield* Effect.forEach(actions, ask, { discard: true })
  })

  /** `since` is when it was sent. */
  const notTaken = Effect.fnUntraced(function* (since: string, message: string) {
    const reason = printableLine(message, maxReason)
    yield* warning.fails(reason)
    yield* Ref.update(reports, (before) => ({
      ...before,
      problem: { since: before.problem?.since ?? since, reason }
    }))
  })

  /** Gives how long its reader can wait for the next one, in milliseconds. */
  const send = Effect.gen(function* () {
    yield* Queue.takeAll(changed)
    const current = yield* report
    yield* Ref.set(last, Option.some(current))
    yield* Effect.matchEffect(post(current), {
      onSuccess: taken,
      onFailure: ({ detail }) => notTaken(current.sentAt, detail)
    })
    return current.copiedPercent === undefined ? reportEvery : copyingPause
  }).pipe(
    Effect.catchAllDefect((defect) =>
      Effect.as(
        Effect.flatMap(timestamp, (now) => notTaken(now, messageOf(defect))),
        reportEvery
      )
    )
  )

  /** Those who shut down what a player shows are not those who look after it: it says that it has not failed. */
  const sayEnd = Effect.gen(function* () {
    const [stop] = stopsOf(yield* state)
    const stoppedBy = stop?.[1].by ?? "the system"
    const before = yield* yield* Ref.get(last)
    yield* post({ ...before, sentAt: yield* timestamp, stoppedBy, problems: [], screens: [] })
  }).pipe(Effect.ignore, Effect.disconnect, Effect.interruptible, Effect.timeoutOption(endTimeout))
  yield* Effect.addFinalizer((exit) =>
    Exit.isSuccess(exit) || Exit.isInterrupted(exit) ? sayEnd : Effect.void
  )

  const sending = whenChanged(send, {
    changed,
    shortest: shortestPause,
    longest: (millis) =>
      Effect.map(Random.nextIntBetween(Math.ceil(millis * 0.8), millis + 1), Duration.millis)
  })

  return {
    start: Effect.asVoid(Effect.forkIn(sending, scope)),
    state: Ref.get(reports)
  } satisfies SendReports
})

/** Whether an event says that something has changed that is reported. */
const isChange = (name: string, content: string): boolean =>
  (name.startsWith(`${content}:`) && name !== `${content}:source:progress`) ||
  name.startsWith("controller:problem:")

/** How long the end of a player waits for its hub. */
const endTimeout = "500 millis"

/** How much of a reason is shown. */
const maxReason = 500

const freeBytes = (directory: string): Effect.Effect<Pick<PlayerReport, "freeDisk">> =>
  Effect.tryPromise(() => statfs(directory)).pipe(
    Effect.map(({ bavail, bsize }) => ({ freeDisk: bavail * bsize })),
    Effect.orElseSucceed(() => ({}))
  )
