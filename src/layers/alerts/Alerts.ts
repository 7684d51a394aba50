/**
 * Posts problems that go on, and their ends, to an address: a chat, a pager, a monitoring system.
 *
 * Only what was not delivered yet is kept of each problem, so that a receiver that is away costs bounded memory and misses no end. What was
 * posted and has not ended is in a file, so that a restart loses no end either.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as SynchronizedRef from "effect/SynchronizedRef"
import * as JsonFile from "../../files/JsonFile.ts"
import { resubscribe } from "../../internal/Schedules.ts"
import { defined } from "../../internal/schemas.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Node } from "../../services/StatusSnapshot.ts"
import { originOf } from "../httpClient/httpFailure.ts"
import * as Requests from "../httpClient/Requests.ts"
import { withMutes } from "../status/mutedProblems.ts"
import type { Found, StandingProblems } from "../status/standingProblems.ts"
import type { AlertOptions } from "./AlertOptions.ts"
import { alertText, chatText } from "./alertText.ts"
import {
  type Alert,
  due,
  hasGivenUp,
  Posted,
  posted,
  postedOf,
  posting,
  restored,
  update
} from "./pending.ts"

/** How often it is checked what is to be delivered. */
const checkEvery = "5 seconds"

/** In milliseconds, for each post. */
const postTimeout = 10_000

/** How long after a start a problem continues that was posted before it and is not found again, in milliseconds. */
const settleMs = 300_000

/** Shown in the state and the log: it would not be delivered either. */
const undelivered = { code: "alerts:undelivered", severity: "warning" } as const

/** Statuses that are about what was posted: the receiver may take the next one. */
const refusesOne: ReadonlySet<number> = new Set([400, 413, 422])

/**
 * Delivers until the scope ends; gives what takes problems that were found. While the receiver takes no alerts, that is a problem. Without a
 * file, ends of problems that were posted before a restart are not posted.
 */
export const make = Effect.fnUntraced(function* (
  { after, headers, url }: AlertOptions,
  node: Node | undefined,
  path?: string
) {
  const requests = yield* Requests.make({ maxTimeout: postTimeout, isWhole: true, maxBytes: 0 })
  const file = yield* JsonFile.make(path, Posted, {
    read: "the ends of problems before the restart are not posted",
    written: "a restart forgets whose ends are to be posted"
  })
  const startedAt = yield* Clock.currentTimeMillis
  const before = yield* file.read
  const alerts = yield* Ref.make(restored(before, startedAt))
  const missing = yield* Ref.make(before)
  const written = yield* SynchronizedRef.make(markOf(before))
  const address = Redacted.value(url)
  const dashboard = yield* Ref.make<string | undefined>(undefined)
  const problems = yield* Ref.make<ReadonlyArray<Problem>>([])
  const { addMomentary, read } = yield* ControllerState
  yield* addMomentary(
    "alerts",
    Effect.map(Ref.get(problems), (problems) => ({ problems }))
  )
  const machine = node?.label ?? node?.id

  const request = (
    post: ReadonlyArray<Alert>,
    now: number,
    dashboard: string | undefined
  ): Requests.Request => {
    const isOver = post.some(({ isOver }) => isOver)
    const problems = post.map(({ changedAt, problem }) => ({
      ...problem,
      ...(isOver ? { endedAt: new Date(changedAt).toISOString() } : {})
    }))
    return {
      url: address,
      headers: Record.map(headers, Redacted.value),
      body: JSON.stringify({
        text: chatText(
          [
            ...(machine === undefined ? [] : [machine]),
            ...(isOver ? ["over"] : []),
            alertText(problems, now)
          ].join(": ") + (dashboard === undefined ? "" : ` (${dashboard})`)
        ),
        event: isOver ? "end" : "begin",
        ...defined({ node, dashboard }),
        ...(problems.length === 1 ? { problem: problems[0] } : { problems })
      }),
      follows: false,
      isStatusOnly: true
    }
  }

  const works = Effect.unlessEffect(Ref.set(problems, []), Effect.map(Ref.get(alerts), hasGivenUp))
  const fails = (reason: string, tries = "until they can") => {
    const subject = originOf(address)
    const text = `Alerts cannot be delivered to ${subject}, and are tried again ${tries}: ${reason}`
    return Ref.set(problems, [{ ...undelivered, subject, text }])
  }

  /** Writes what was posted, if that is not what the file says. */
  const save = SynchronizedRef.updateEffect(written, (before) =>
    Effect.gen(function* () {
      const posted = postedOf(yield* Ref.get(alerts))
      const mark = markOf(posted)
      return mark === before || !(yield* file.write(posted)) ? before : mark
    })
  )

  /** Gives whether it was taken; fails where the next one would not be taken either. */
  const send = (post: ReadonlyArray<Alert>, now: number) =>
    Effect.flatMap(Ref.get(dashboard), (address) => requests.attempt(request(post, now, address))).pipe(
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
                ? Effect.as(fails(`it responds ${status}`, `for about four minutes each`), false)
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
      yield* save
      if (post.length === 0) {
        if (tried.size === 0) yield* works
        return
      }
      const isTaken = yield* send(post, now)
      yield* Ref.update(alerts, (before) => posted(before, post, isTaken))
      yield* save
      yield* deliver(new Set([...tried, ...post.map(({ key }) => key)]))
      yield* isTaken ? Effect.void : Effect.fail("some were refused")
    })

  yield* deliver(new Set()).pipe(
    Effect.retry(resubscribe),
    Effect.repeat(Schedule.spaced(checkEvery)),
    Effect.forkScoped
  )

  /** Posted before the restart, and not found since, when there was time enough. */
  const gone = (standing: StandingProblems, now: number) =>
    Ref.modify(missing, (before): readonly [ReadonlyArray<Posted>, ReadonlyArray<Posted>] => {
      const left = before.filter(({ key }) => !standing.has(key))
      return now - startedAt < settleMs ? [[], left] : [left, []]
    })

  return ({ changes, standing }: Found): Effect.Effect<void> =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const endedAt = new Date(now).toISOString()
      const { state, view } = yield* read
      yield* Ref.set(dashboard, view.dashboard)
      const mute = withMutes(state, now)
      const ends = (yield* gone(standing, now)).flatMap(({ key, problem }) =>
        mute([problem]).map((problem) => ({ _tag: "End" as const, key, problem, endedAt }))
      )
      const posted = [...changes, ...ends].filter(
        ({ problem: { code, player } }) => code !== undelivered.code || player !== undefined
      )
      yield* Ref.update(alerts, (before) => update(before, { changes: posted, standing }, now))
    })
})

/** What is posted of a problem while it lasts, its text for example, changes often, and is not worth a write. */
const markOf = (posted: ReadonlyArray<Posted>): string =>
  JSON.stringify(posted.map(({ isTaken, key, known }) => [key, known, isTaken]))
