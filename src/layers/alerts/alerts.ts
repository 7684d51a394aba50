/**
 * Posts problems that go on, and their ends, to an address: a chat, a pager, a monitoring system.
 *
 * Of each problem only what was not delivered yet is kept, so that a receiver that is away costs bounded memory and misses no end.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import { resubscribe } from "../../internal/schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Node } from "../../services/StatusSnapshot.ts"
import { deepestMessage, originOf } from "../httpClient/HttpFailure.ts"
import { maxProblems } from "../status/remembered.ts"
import type { AlertOptions } from "./AlertOptions.ts"
import type { Found, ProblemChange } from "./problemChanges.ts"

/** How often it is checked what is to be delivered. */
const checkEvery = "5 seconds"

const postTimeout = "10 seconds"

/** A problem of which something is to be delivered, or will be. */
interface Alert {
  readonly problem: Problem
  /** When it was found, in milliseconds since 1970. */
  readonly foundAt: number
  /** Whether the receiver knows that it has begun; it may know where that was tried. */
  readonly begin: "waits" | "tried" | "delivered"
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
        begin: before === undefined || isWorse ? "waits" : before.begin
      })
    }
  } else if (before === undefined || before.begin === "waits") {
    next.delete(change.key)
  } else {
    next.set(change.key, { ...before, endedAt: change.endedAt })
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
  const client = yield* HttpClient.HttpClient
  const alerts = yield* Ref.make<Alerts>(new Map())
  const address = Redacted.value(url)
  const warning = makeWarnWhile(
    (reason) =>
      `Alerts cannot be delivered to ${originOf(address)}, and are tried again until they can: ${reason}`
  )
  const machine = node?.label ?? node?.id

  const request = ({ endedAt, problem }: Alert) =>
    HttpClientRequest.post(address).pipe(
      HttpClientRequest.setHeaders(Record.map(headers, Redacted.value)),
      HttpClientRequest.bodyUnsafeJson({
        text: [
          ...(machine === undefined ? [] : [machine]),
          ...(endedAt === undefined ? [] : ["over"]),
          problem.text
        ].join(": "),
        event: endedAt === undefined ? "begin" : "end",
        ...(node === undefined ? {} : { node }),
        problem: { ...problem, ...(endedAt === undefined ? {} : { endedAt }) }
      })
    )

  const post = (alert: Alert) =>
    client.execute(request(alert)).pipe(
      Effect.mapError((error) => deepestMessage(error.cause ?? error)),
      Effect.filterOrFail(
        ({ status }) => status >= 200 && status < 300,
        ({ status }) => `it responds ${status}`
      ),
      Effect.timeoutFail({ duration: postTimeout, onTimeout: () => `no response within ${postTimeout}` }),
      Effect.scoped,
      Effect.tapError(warning.fails),
      Effect.zipRight(warning.works)
    )

  const isDue = ({ begin, endedAt, foundAt }: Alert, now: number) =>
    endedAt !== undefined || (begin !== "delivered" && now - foundAt >= Duration.toMillis(after))

  const note = (key: string, alert: Alert, begin: Alert["begin"]) =>
    Ref.update(alerts, (before) => {
      const now = before.get(key)
      // It may have become worse, or may be over, while it was posted.
      return now === undefined || now.problem.severity !== alert.problem.severity
        ? before
        : new Map(before).set(key, { ...now, begin })
    })

  const deliverBegin = (key: string, alert: Alert) =>
    note(key, alert, "tried").pipe(
      Effect.zipRight(post(alert)),
      Effect.zipRight(note(key, alert, "delivered"))
    )

  /** It may have begun again while it was posted. */
  const deliverEnd = (key: string, alert: Alert) =>
    Effect.zipRight(
      post(alert),
      Ref.update(alerts, (before) =>
        before.get(key)?.endedAt === alert.endedAt
          ? new Map([...before].filter(([other]) => other !== key))
          : before
      )
    )

  const deliver = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const due = [...(yield* Ref.get(alerts))].filter(([, alert]) => isDue(alert, now))
    yield* Effect.forEach(
      due,
      ([key, alert]) => (alert.endedAt === undefined ? deliverBegin : deliverEnd)(key, alert),
      { discard: true }
    )
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
