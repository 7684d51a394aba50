/**
 * Sends reports of a player to its hub: after each change, every ten seconds, and once more after a request to stop.
 *
 * Only the newest report is sent: nothing is queued while the hub accepts no reports.
 */
import { randomUUID } from "node:crypto"
import { statfs } from "node:fs/promises"
import { hostname } from "node:os"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as LogLevel from "effect/LogLevel"
import * as Number from "effect/Number"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { endWithin } from "../../internal/background.ts"
import { makeLogTail } from "../../internal/loggers.ts"
import { vitrineVersion } from "../../internal/machine.ts"
import { printableLine } from "../../internal/printable.ts"
import { whenChanged } from "../../internal/Schedules.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { TakenByScreen } from "../../services/AskedScreen.ts"
import { CommandBus } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { maxDone, type PlayerReport, type ReportAnswer, reportEvery } from "../../services/PlayerReport.ts"
import type { PluginContext } from "../../services/Plugin.ts"
import { ScreenPictures } from "../../services/ScreenPictures.ts"
import type { Reports } from "../../services/Slices.ts"
import * as Subscription from "../fanOut/Subscription.ts"
import { stopsOf } from "../status/slices.ts"
import { makeReport } from "./makeReport.ts"
import * as PostReport from "./PostReport.ts"

export interface Settings extends PostReport.ReportOptions {
  /** The name of the copied content. */
  readonly content: string
  /** The folder of its versions. */
  readonly directory: string
  /** From the controller. */
  readonly addLogger: PluginContext["addLogger"]
}

/** The shortest pause between two reports. */
const shortestPause = "1 second"

/** The pause while a version is copied, in milliseconds; short, so that the hub sees the progress. */
const copyingPause = 2000

/** The part of the log that is sent. */
const warnings = { minimum: LogLevel.Warning, maxLines: 10, maxLength: 300 }

/** Identifies this process, even if another machine has the same id. */
const runId = randomUUID()

/** How many reports this process has made. */
const made = Ref.unsafeMake(0)
const nextNumber = Ref.updateAndGet(made, Number.increment)

type Asked = NonNullable<ReportAnswer["actions"]>[number]

export const make = Effect.fnUntraced(function* ({ addLogger, content, directory, to, token }: Settings) {
  const { read, state } = yield* ControllerState
  const scope = yield* Effect.scope
  const { post, putPicture } = yield* PostReport.make({ to, token })
  const reception = yield* makeReception(to)
  const asked = yield* makeAsked(content)
  const last = yield* Ref.make(Option.none<PlayerReport>())
  const log = makeLogTail(warnings)
  yield* addLogger(log.logger)
  const pictures = yield* makePictures(to, putPicture)

  const changed = yield* Queue.sliding<void>(1)
  const { feeds } = yield* Subscription.make("The reporting to the hub")
  yield* Stream.flatMap(feeds, ({ events }) => events).pipe(
    Stream.tap(({ name, payload }) =>
      name.endsWith(":screen:taken") && isTaken(payload) ? asked.confirm(payload) : Effect.void
    ),
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
      number: yield* nextNumber,
      done: yield* asked.done,
      ...(yield* freeBytes(directory)),
      watched: yield* pictures.watched,
      warnings: log.lines().map(({ at, text }) => `${at} ${text}`)
    }
    return makeReport((yield* read).view, machine)
  })

  /** Sends a report, and gives the pause before the next one, in milliseconds. */
  const send = Effect.gen(function* () {
    yield* Queue.takeAll(changed)
    const current = yield* report
    yield* Ref.set(last, Option.some(current))
    yield* Effect.matchEffect(post(current), {
      onSuccess: ({ actions, pictures: wanted, vitrine }) =>
        Effect.all([reception.accepted(vitrine), pictures.take(current, wanted), asked.take(actions)]),
      onFailure: ({ detail }) => reception.refused(current.sentAt, detail)
    })
    return current.copiedPercent === undefined ? reportEvery : copyingPause
  }).pipe(
    Effect.catchAllDefect((defect) =>
      Effect.as(
        Effect.flatMap(timestamp, (now) => reception.refused(now, messageOf(defect))),
        reportEvery
      )
    )
  )

  /** Tells the hub that this shutdown was intended. */
  const sayEnd = Effect.gen(function* () {
    const [stop] = stopsOf(yield* state)
    const stoppedBy = stop?.[1].by ?? "the system"
    const before = yield* yield* Ref.get(last)
    const number = yield* nextNumber
    yield* post({ ...before, number, sentAt: yield* timestamp, stoppedBy, problems: [], screens: [] })
  }).pipe(Effect.ignore, endWithin(endTimeout))
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
    /** Runs until the scope of `make` ends. Then the hub gets a last report that names who ended it, except after a failure. */
    start: Effect.asVoid(Effect.forkIn(sending, scope)),
    /** The state of the reports, for the state of the controller. */
    state: reception.state
  }
})

const timestamp = Effect.map(DateTime.now, DateTime.formatIso)

/** Whether the hub accepts reports: in the state and in the log. */
const makeReception = Effect.fnUntraced(function* (to: string) {
  const reports = yield* Ref.make<Reports>({ to })
  const warning = makeWarnWhile(
    (reason) => `Reports are not accepted by ${to}, and are sent again until they are: ${reason}`,
    `Reports are accepted by ${to} again`
  )

  const accepted = Effect.fnUntraced(function* (vitrine: ReportAnswer["vitrine"]) {
    yield* warning.works
    yield* Ref.set(reports, { to, takenAt: yield* timestamp, vitrine })
  })

  /** `since` is the time when the report was sent. */
  const refused = Effect.fnUntraced(function* (since: string, message: string) {
    const reason = printableLine(message, maxReason)
    yield* warning.fails(reason)
    yield* Ref.update(reports, (before) => ({
      ...before,
      problem: { since: before.problem?.since ?? since, reason }
    }))
  })

  return { accepted, refused, state: Ref.get(reports) }
})

/** The actions that the hub asks of screens. It repeats an action until a report says that the screen has received it. */
const makeAsked = Effect.fnUntraced(function* (content: string) {
  const { read } = yield* ControllerState
  const { dispatch } = yield* CommandBus
  const asked = yield* Ref.make<ReadonlyArray<Asked>>([])
  const done = yield* Ref.make<ReadonlyArray<string>>([])

  /** Passes an action on to a screen, like a request on this machine. The screen may show another content. */
  const ask = ({ action, id: _, screen, ...by }: Asked) =>
    read.pipe(
      Effect.map(({ view }) => view.screens.find(({ id }) => id === screen)?.content ?? content),
      Effect.flatMap((content) => dispatch({ ...by, screen, action, type: `${content}.screen` })),
      Effect.catchAll(({ message }) =>
        Effect.logWarning(
          `An action that the hub asks of a screen failed: ${printableLine(message, maxReason)}`
        )
      )
    )

  /** Asks for the actions that are new. */
  const take = Effect.fnUntraced(function* (actions: ReadonlyArray<Asked> = []) {
    const fresh = yield* Ref.modify(asked, (before) => {
      const known = before.flatMap(({ id = [] }) => id)
      const fresh = actions.filter(({ id }) => id === undefined || !known.includes(id))
      return [fresh, [...before, ...fresh].slice(-maxDone)]
    })
    yield* Effect.forEach(fresh, ask, { discard: true })
  })

  /** Confirms the actions that a screen has received. */
  const confirm = Effect.fnUntraced(function* ({ actions, screen }: typeof TakenByScreen.Type) {
    const ids = (yield* Ref.get(asked))
      .filter((one) => one.screen === screen && actions.some((action) => action === one.action))
      .flatMap(({ id = [] }) => id)
    yield* Ref.update(done, (before) => [...new Set([...before, ...ids])].slice(-maxDone))
  })

  return { take, confirm, done: Ref.get(done) }
})

/** How many pictures are taken at once: more than one answer asks for, because some screens may hang. */
const picturesAtOnce = 16

/** How many pictures may wait; others are taken later. */
const maxPictures = 16

/** How many numbers of pictures are remembered. */
const maxNumbers = 256

/** Takes the pictures that the hub asks for, each once, in the background. The hub repeats what it asks for until the answer. */
const makePictures = Effect.fnUntraced(function* (to: string, put: PostReport.PutPicture) {
  const { ask, watched } = yield* ScreenPictures
  const numbers = yield* Ref.make<ReadonlyArray<string>>([])
  const waiting = yield* Queue.dropping<PostReport.WantedOfPlayer>(maxPictures)
  const warning = makeWarnWhile(
    (reason) => `Pictures of screens do not reach ${to}: ${reason}`,
    `Pictures of screens reach ${to} again`
  )

  const answer = (wanted: PostReport.WantedOfPlayer) =>
    ask(wanted.screen).pipe(
      Effect.mapBoth({
        onFailure: ({ detail, message }) => detail ?? message,
        onSuccess: ({ jpeg }) => jpeg
      }),
      Effect.either,
      Effect.flatMap((answer) => put(wanted, answer)),
      Effect.matchEffect({
        onFailure: ({ detail }) => warning.fails(printableLine(detail, maxReason)),
        onSuccess: () => warning.works
      })
    )
  yield* Stream.fromQueue(waiting).pipe(
    Stream.mapEffect(answer, { concurrency: picturesAtOnce, unordered: true }),
    Stream.runDrain,
    Effect.forkScoped
  )

  /** Only of screens that the report has. */
  const take = Effect.fnUntraced(function* (
    { node, watched = [] }: PlayerReport,
    wanted: ReportAnswer["pictures"] = []
  ) {
    const known = yield* Ref.get(numbers)
    const fresh = wanted.filter(
      ({ number, screen }) =>
        /^[\w-]{1,64}$/.test(number) && !known.includes(number) && watched.includes(screen)
    )
    // The hub asks again for what found no room.
    const queued = yield* Effect.filter(fresh, (wanted) =>
      Queue.offer(waiting, { ...wanted, player: node.id })
    )
    yield* Ref.set(numbers, [...known, ...queued.map(({ number }) => number)].slice(-maxNumbers))
  })

  return { take, watched }
})

const isTaken = Schema.is(TakenByScreen)

/** Whether an event changes the report. */
const isChange = (name: string, content: string): boolean =>
  name.endsWith(":screen:taken") ||
  (name.startsWith(`${content}:`) && name !== `${content}:source:progress`) ||
  name.startsWith("controller:problem:")

/** How long the shutdown of a player waits for its hub. */
const endTimeout = "500 millis"

/** The longest reason that is displayed, in characters. */
const maxReason = 500

const freeBytes = (directory: string): Effect.Effect<Pick<PlayerReport, "freeDisk">> =>
  Effect.tryPromise(() => statfs(directory)).pipe(
    Effect.map(({ bavail, bsize }) => ({ freeDisk: bavail * bsize })),
    Effect.orElseSucceed(() => ({}))
  )
