/**
 * Posts problems that go on, and their ends, to an address: a chat, a pager, a monitoring system.
 *
 * Only what was not delivered yet is kept of each problem, so that a receiver that is away costs bounded memory and misses no end.
 */
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import { resubscribe } from "../../internal/schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Node } from "../../services/StatusSnapshot.ts"
import { originOf } from "../httpClient/HttpFailure.ts"
import * as Requests from "../httpClient/Requests.ts"
import { maxProblems } from "../status/remembered.ts"
import type { AlertOptions } from "./AlertOptions.ts"
import type { Found, ProblemChange } from "./problemChanges.ts"

/** How often it is checked what is to be delivered. */
const checkEvery = "5 seconds"

/** In milliseconds, for each post. */
const postTimeout = 10_000

/** Statuses that are about what was posted: the receiver may take the next one. */
const refusesOne: ReadonlySet<number> = new Set([400, 413, 422])

/** A problem of which something is to be delivered, or will be. */
interface Alert {
  readonly problem: Problem
  /** When it was found, in milliseconds since 1970. */
  readonly foundAt: number
  /** Whether the receiver knows that it has begun, or may know, as that was tried. */
  readonly isKnown: boolean
  /** Whether it was posted as it is; one that has become worse is posted again. */
  readonly isPosted: boolean
  readonly endedAt?: string
}

type Alerts = ReadonlyMap<string, Alert>

/** What there is to deliver after a change. Pure; `now` is in milliseconds since 1970. */
const advance = (alerts: Alerts, change: ProblemChange, now: number): Alerts => {
  const next = new Map(alerts)
  const before = alerts.get(change.key)
  if (change._tag === "Begin") {
    const isWorse = before !== undefined && before.problem.severity !== change.problem.severity
    if (before !== undefined || next.size < maxProblems) {
      next.set(change.key, {
        problem: change.problem,
        foundAt: before?.foundAt ?? now,
        isKnown: before?.isKnown ?? false,
        isPosted: before !== undefined && !isWorse && before.isPosted
      })
    }
  } else if (before === undefined || !before.isKnown) {
    next.delete(change.key)
  } else {
    next.set(change.key, { ...before, endedAt: change.endedAt })
  }
  return next
}

/** What is left after `posted` was taken, or refused. It may have changed meanwhile. Pure. */
const settle = (alerts: Alerts, key: string, posted: Alert, isTaken: boolean): Alerts => {
  const now = alerts.get(key)
  if (now === undefined) {
    return alerts
  }
  const next = new Map(alerts)
  if (!isTaken) {
    next.set(key, { ...now, isKnown: posted.isKnown })
  } else if (posted.endedAt === undefined) {
    next.set(key, { ...now, isPosted: now.problem.severity === posted.problem.severity })
  } else if (now.endedAt === undefined) {
    next.set(key, { ...now, isKnown: false, isPosted: false })
  } else {
    next.delete(key)
  }
  return next
}

/** With what is said of each problem now. */
const refreshed = (alerts: Alerts, standing: Found["standing"]): Alerts =>
  new Map([...alerts].map(([key, alert]) => [key, { ...alert, problem: standing.get(key) ?? alert.problem }]))

/** Delivers until the scope ends; gives what takes problems that were found. */
export const make = Effect.fnUntraced(function* (
  { after, headers, url }: AlertOptions,
  node: Node | undefined
) {
  const requests = yield* Requests.make({ maxTimeout: postTimeout, isWhole: true, maxBytes: 0 })
  const alerts = yield* Ref.make<Alerts>(new Map())
  const address = Redacted.value(url)
  const warning = makeWarnWhile(
    (reason) =>
      `Alerts cannot be delivered to ${originOf(address)}, and are tried again until they can: ${reason}`
  )
  const machine = node?.label ?? node?.id

  const request = ({ endedAt, problem }: Alert): Requests.Request => ({
    url: address,
    headers: Record.map(headers, Redacted.value),
    body: JSON.stringify({
      text: [
        ...(machine === undefined ? [] : [machine]),
        ...(endedAt === undefined ? [] : ["over"]),
        problem.text
      ].join(": "),
      event: endedAt === undefined ? "begin" : "end",
      ...(node === undefined ? {} : { node }),
      problem: { ...problem, ...(endedAt === undefined ? {} : { endedAt }) }
    }),
    follows: false,
    isStatusOnly: true
  })

  /** Gives whether it was taken; fails where the next one would not be taken either. */
  const post = (alert: Alert) =>
    requests.once(request(alert)).pipe(
      Effect.matchEffect({
        onSuccess: () => Effect.as(warning.works, true),
        onFailure: ({ detail, reason, status }) =>
          status === undefined
            ? Effect.fail(reason === "Timeout" ? `no response within ${postTimeout / 1000} seconds` : detail)
            : refusesOne.has(status)
              ? Effect.as(warning.fails(`it responds ${status}`), false)
              : Effect.fail(`it responds ${status}`)
      }),
      Effect.tapError(warning.fails)
    )

  const isDue = ({ endedAt, foundAt, isPosted }: Alert, now: number) =>
    endedAt !== undefined || (!isPosted && now - foundAt >= Duration.toMillis(after))

  /** As it is then, which may be long after the turn of the first one; none where it is over. */
  const atItsTurn = (key: string, now: number) =>
    Ref.modify(alerts, (before) => {
      const alert = before.get(key)
      return alert === undefined || !isDue(alert, now)
        ? [Option.none<Alert>(), before]
        : [Option.some(alert), new Map(before).set(key, { ...alert, isKnown: true })]
    })

  const deliverOne = (key: string, now: number) =>
    Effect.flatMap(
      atItsTurn(key, now),
      Option.match({
        onNone: () => Effect.succeed(true),
        onSome: (alert) =>
          Effect.tap(post(alert), (isTaken) =>
            Ref.update(alerts, (before) => settle(before, key, alert, isTaken))
          )
      })
    )

  /** The ends first: of a receiver that takes little it should not seem that all goes on. */
  const deliver = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const [begun, ended] = Array.partition(yield* Ref.get(alerts), ([, { endedAt }]) => endedAt !== undefined)
    const taken = yield* Effect.forEach([...ended, ...begun], ([key]) => deliverOne(key, now))
    if (taken.includes(false)) {
      yield* Effect.fail("some were refused")
    }
  })

  yield* deliver.pipe(
    Effect.retry(resubscribe),
    Effect.repeat(Schedule.spaced(checkEvery)),
    Effect.forkScoped
  )

  return ({ changes, standing }: Found): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Ref.update(alerts, (before) =>
        refreshed(
          changes.reduce<Alerts>((alerts, change) => advance(alerts, change, now), before),
          standing
        )
      )
    )
})
