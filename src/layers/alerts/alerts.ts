/**
 * Posts problems that go on, and their ends, to an address: a chat, a pager, a monitoring system.
 *
 * Only what was not delivered yet is kept of each problem, so that a receiver that is away costs bounded memory and misses no end.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import { resubscribe } from "../../internal/schedules.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Node } from "../../services/StatusSnapshot.ts"
import { originOf } from "../httpClient/HttpFailure.ts"
import * as Requests from "../httpClient/Requests.ts"
import type { AlertOptions } from "./AlertOptions.ts"
import { alertText } from "./alertText.ts"
import { type Alert, type Alerts, due, posted, posting, update } from "./pending.ts"
import type { Found } from "./problemChanges.ts"

/** How often it is checked what is to be delivered. */
const checkEvery = "5 seconds"

/** In milliseconds, for each post. */
const postTimeout = 10_000

/** Shown in the state and the log: it would not be delivered either. */
const undelivered = { code: "alerts:undelivered", severity: "warning" } as const

/** Statuses that are about what was posted: the receiver may take the next one. */
const refusesOne: ReadonlySet<number> = new Set([400, 413, 422])

/** Delivers until the scope ends; gives what takes problems that were found. While the receiver takes no alerts, that is a problem. */
export const make = Effect.fnUntraced(function* (
  { after, headers, url }: AlertOptions,
  node: Node | undefined
) {
  const requests = yield* Requests.make({ maxTimeout: postTimeout, isWhole: true, maxBytes: 0 })
  const alerts = yield* Ref.make<Alerts>(new Map())
  const address = Redacted.value(url)
  const problems = yield* Ref.make<ReadonlyArray<Problem>>([])
  const { addMomentary } = yield* ControllerState
  yield* addMomentary(
    "alerts",
    Effect.map(Ref.get(problems), (problems) => ({ problems }))
  )
  const machine = node?.label ?? node?.id

  const request = (post: ReadonlyArray<Alert>, now: number): Requests.Request => {
    const isOver = post.some(({ isOver }) => isOver)
    const problems = post.map(({ changedAt, problem }) => ({
      ...problem,
      ...(isOver ? { endedAt: new Date(changedAt).toISOString() } : {})
    }))
    return {
      url: address,
      headers: Record.map(headers, Redacted.value),
      body: JSON.stringify({
        text: [
          ...(machine === undefined ? [] : [machine]),
          ...(isOver ? ["over"] : []),
          alertText(problems, now)
        ].join(": "),
        event: isOver ? "end" : "begin",
        ...(node === undefined ? {} : { node }),
        ...(problems.length === 1 ? { problem: problems[0] } : { problems })
      }),
      follows: false,
      isStatusOnly: true
    }
  }

  const works = Ref.set(problems, [])
  const fails = (reason: string) => {
    const subject = originOf(address)
    const text = `Alerts cannot be delivered to ${subject}, and are tried again until they can: ${reason}`
    return Ref.set(problems, [{ ...undelivered, subject, text }])
  }

  /** Gives whether it was taken; fails where the next one would not be taken either. */
  const send = (post: ReadonlyArray<Alert>, now: number) =>
    requests.attempt(request(post, now)).pipe(
      Effect.matchEffect({
        onSuccess: () => Effect.as(works, true),
        onFailure: ({ detail, reason, redirectsTo, status }) =>
          status === undefined
            ? Effect.fail(reason === "Timeout" ? `no response within ${postTimeout / 1000} seconds` : detail)
            : redirectsTo !== undefined
              ? Effect.fail(
                  `it redirects to ${redirectsTo}, which alerts do not follow: set the address there as "url"`
                )
              : refusesOne.has(status)
                ? Effect.as(fails(`it responds ${status}`), false)
                : Effect.fail(`it responds ${status}`)
      }),
      Effect.tapError(fails)
    )

  /** What is due next and was not `tried`, as it is then: posts take time. */
  const next = (tried: ReadonlySet<string>, now: number) =>
    Ref.modify(alerts, (before) => {
      const post = due(before, Duration.toMillis(after), now).find(
        (post) => !post.some(({ key }) => tried.has(key))
      )
      return post === undefined ? [[], before] : [post, posting(before, post)]
    })

  const deliver = (tried: ReadonlySet<string>): Effect.Effect<void, string> =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const post = yield* next(tried, now)
      if (post.length === 0) {
        if (tried.size === 0) yield* works
        return
      }
      const isTaken = yield* send(post, now)
      yield* Ref.update(alerts, (before) => posted(before, post, isTaken))
      yield* deliver(new Set([...tried, ...post.map(({ key }) => key)]))
      yield* isTaken ? Effect.void : Effect.fail("some were refused")
    })

  yield* deliver(new Set()).pipe(
    Effect.retry(resubscribe),
    Effect.repeat(Schedule.spaced(checkEvery)),
    Effect.forkScoped
  )

  return ({ standing }: Found): Effect.Effect<void> => {
    const others = [...standing].filter(
      ([, { code, player }]) => code !== undelivered.code || player !== undefined
    )
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Ref.update(alerts, (before) => update(before, new Map(others), now))
    )
  }
})
