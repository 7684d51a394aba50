/**
 * Posts problems that continue, and their ends, to an address: a chat, a pager, a monitoring system.
 *
 * Only undelivered changes are kept, so that an unavailable receiver costs bounded memory and misses no end. A file
 * keeps the posted problems that have not ended, so that a restart misses no end either.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as SynchronizedRef from "effect/SynchronizedRef"
import * as JsonFile from "../../files/JsonFile.ts"
import { monotonicMillis, now } from "../../internal/monotonicMillis.ts"
import { printableLine } from "../../internal/printable.ts"
import { countText, withLocalTimes } from "../../internal/readable.ts"
import { resubscribe } from "../../internal/Schedules.ts"
import { defined } from "../../internal/schemas.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Node } from "../../services/StatusSnapshot.ts"
import { originOf } from "../httpClient/httpFailure.ts"
import * as Requests from "../httpClient/Requests.ts"
import { type Found, type StandingProblems, withMutes } from "../status/problems.ts"
import type { AlertOptions } from "./AlertOptions.ts"
import {
  type Alert,
  due,
  hasGivenUp,
  isOver,
  Posted,
  posted,
  postedOf,
  posting,
  restored,
  update
} from "./pending.ts"

/** How often it looks for problems to post. */
const checkEvery = "5 seconds"

/** The timeout of each request, in milliseconds. */
const postTimeout = 10_000

/** After a start, how long a posted problem that is not found again still counts as continuing, in milliseconds. */
const settleMs = 300_000

/** Only in the state and the log: it could not be delivered either. */
const undelivered = { code: "alerts:undelivered", severity: "warning" } as const

/** HTTP statuses that refuse only this post: the receiver may accept the next one. */
const refusesOne: ReadonlySet<number> = new Set([400, 413, 422])

/**
 * Delivers until the scope ends. Gives a function that receives the found problems. A receiver that does not accept
 * alerts is a problem itself. Without a file, ends of problems that were posted before a restart are not posted.
 */
export const make = Effect.fnUntraced(function* (
  { after, headers, url }: AlertOptions,
  node: Node | undefined,
  path?: string
) {
  const requests = yield* Requests.make({ maxTimeout: postTimeout, isWhole: true, maxBytes: 0 })
  const file = yield* JsonFile.make(path, Posted, {
    read: "the ends of problems before the restart are not posted",
    written: "after a restart, the ends of earlier problems are not posted"
  })
  const startedAt = yield* monotonicMillis
  const before = yield* file.read
  const alerts = yield* Ref.make(restored(before, startedAt))
  const missing = yield* Ref.make(before)
  const written = yield* SynchronizedRef.make(markOf(before))
  const address = Redacted.value(url)
  const dashboard = yield* Ref.make<string | undefined>(undefined)
  const problems = yield* Ref.make<ReadonlyArray<Problem>>([])
  const { read, register } = yield* ControllerState
  yield* register({
    name: "alerts",
    live: Effect.map(Ref.get(problems), (problems) => ({ problems }))
  })
  const machine = node?.label ?? node?.id

  const request = (
    post: ReadonlyArray<Alert>,
    now: number,
    dashboard: string | undefined
  ): Requests.Request => {
    const isEnd = post.some(isOver)
    const problems = post.map(({ endedAt, problem }) => ({ ...problem, ...defined({ endedAt }) }))
    return {
      url: address,
      headers: Record.map(headers, Redacted.value),
      body: JSON.stringify({
        text: chatText(
          [machine, isEnd ? "over" : undefined, alertText(problems, now)]
            .filter(Predicate.isNotUndefined)
            .join(": ") + (dashboard === undefined ? "" : ` (${dashboard})`)
        ),
        event: isEnd ? "end" : "begin",
        ...defined({ node, dashboard }),
        ...(problems.length === 1 ? { problem: problems[0] } : { problems })
      }),
      follows: false,
      isStatusOnly: true
    }
  }

  const works = Effect.unlessEffect(Ref.set(problems, []), Effect.map(Ref.get(alerts), hasGivenUp))
  const fails = (reason: string, tries = "until it works") => {
    const subject = originOf(address)
    const text = `Alerts cannot be delivered to ${subject}, and Vitrine tries again ${tries}: ${reason}`
    return Ref.set(problems, [{ ...undelivered, subject, text }])
  }

  /** Writes the posted problems, if they differ from the file. */
  const save = SynchronizedRef.updateEffect(written, (before) =>
    Effect.gen(function* () {
      const posted = postedOf(yield* Ref.get(alerts))
      const mark = markOf(posted)
      return mark === before || !(yield* file.write(posted)) ? before : mark
    })
  )

  /**
   * Gives whether the receiver accepted the post. Fails if it would not accept the next one either, and not sooner than
   * it may be asked again.
   */
  const send = (post: ReadonlyArray<Alert>, now: number) =>
    Effect.flatMap(Ref.get(dashboard), (address) => requests.attempt(request(post, now, address))).pipe(
      Effect.zipRight(works),
      Effect.as(true),
      Effect.catchAll((failure) => {
        const reason = reasonOf(failure)
        const { retryAfter = Duration.zero, status = 0 } = failure
        return refusesOne.has(status)
          ? Effect.as(fails(reason, "for about four minutes per alert"), false)
          : Effect.zipRight(fails(reason), Effect.delay(Effect.fail(reason), retryAfter))
      })
    )

  /** The next due post without a `tried` problem. Computed anew each time, because a post takes time. */
  const next = (tried: ReadonlySet<string>, now: number) =>
    Ref.modify(alerts, (before) => {
      const post = due(before, Duration.toMillis(after), now).find(
        (post) => !post.some(({ key }) => tried.has(key))
      )
      return post === undefined ? [[], before] : [post, posting(before, post)]
    })

  const deliver = (tried: ReadonlySet<string>): Effect.Effect<void, string> =>
    Effect.gen(function* () {
      const { monotonic, wall } = yield* now
      const post = yield* next(tried, monotonic)
      yield* save
      if (post.length === 0) {
        if (tried.size === 0) yield* works
        return
      }
      const isTaken = yield* send(post, wall)
      yield* Ref.update(alerts, (before) => posted(before, post, isTaken))
      yield* save
      yield* deliver(new Set([...tried, ...post.map(({ key }) => key)]))
      yield* isTaken ? Effect.void : Effect.fail("the receiver refused some alerts")
    })

  yield* deliver(new Set()).pipe(
    Effect.retry(resubscribe),
    Effect.repeat(Schedule.spaced(checkEvery)),
    Effect.forkScoped
  )

  /** The problems posted before the restart that were not found since, once there was enough time. */
  const gone = (standing: StandingProblems, now: number) =>
    Ref.modify(missing, (before): readonly [ReadonlyArray<Posted>, ReadonlyArray<Posted>] => {
      const absent = before.filter(({ key }) => !standing.has(key))
      return now - startedAt < settleMs ? [[], absent] : [absent, []]
    })

  return ({ changes, standing }: Found): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { monotonic, wall } = yield* now
      const endedAt = new Date(wall).toISOString()
      const { state, view } = yield* read
      yield* Ref.set(dashboard, view.dashboard)
      const mute = withMutes(state, wall)
      const ends = (yield* gone(standing, monotonic)).flatMap(({ key, problem }) =>
        mute([problem]).map((problem) => ({ _tag: "Over" as const, key, problem, endedAt }))
      )
      const posted = [...changes, ...ends].filter(
        ({ problem: { code, player } }) => code !== undelivered.code || player !== undefined
      )
      yield* Ref.update(alerts, (before) => update(before, { changes: posted, standing }, monotonic))
    })
})

const reasonOf = ({ detail, reason, redirectsTo, status }: Requests.RequestFailed): string =>
  redirectsTo !== undefined
    ? `it redirects to ${redirectsTo}, which alerts do not follow: set the new address as "url"`
    : status !== undefined
      ? `it responds ${status}`
      : reason === "Timeout"
        ? `no response within ${postTimeout / 1000} seconds`
        : detail

/** The part of the posted problems that is worth a write. Their texts change often. */
const markOf = (posted: ReadonlyArray<Posted>): string =>
  JSON.stringify(posted.map(({ isTaken, key, known }) => [key, known, isTaken]))

/** How many subjects are listed, and how long a name may be. */
const maxNamed = 20
const maxName = 64

/**
 * The text of one problem, or a summary of several with the same code: `12 players silent since 22:01:09: hall-1,
 * hall-2`. Times are local.
 */
const alertText = (problems: ReadonlyArray<Problem>, now: number): string =>
  withLocalTimes(problems.length === 1 ? problems.map(({ text }) => text).join() : groupText(problems), now)

/**
 * Text from others, safe for a chat: it notifies nobody (`<!channel>`, `@everyone`), and shows where each link leads.
 * Chats show `&lt;` as `<`. A zero-width space is put behind `@`, and between the two parts of a link in Markdown.
 */
const chatText = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/@|\](?=\()/g, "$&\u200b")

const groupText = (problems: ReadonlyArray<Problem>): string => {
  const [since] = problems.flatMap(({ since }) => (since === undefined ? [] : [since])).toSorted()
  const named = problems.slice(0, maxNamed).map(nameOf)
  const more = problems.length - named.length
  return `${countOf(problems)}${since === undefined ? "" : ` since ${since}`}: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

/** `player:never-seen` as `3 players never seen`. */
const countOf = ({ 0: first, length }: ReadonlyArray<Problem>): string => {
  const [kind = "", ...what] = (first?.code ?? "").split(":")
  const state = what.join(" ").replaceAll("-", " ")
  return `${countText(length, kind)} ${state === "problem" ? "with a problem" : state}`.trimEnd()
}

const nameOf = ({ player, subject, text }: Problem): string =>
  printableLine([...(player === undefined ? [] : [player]), subject ?? text].join(" "), maxName)
