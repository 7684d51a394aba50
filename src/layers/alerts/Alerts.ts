/**
 * Tells a receiver (a chat, a pager, a monitoring system) which problems there are: the problems that it knows are compared
 * with the view, and the difference is the next post. A file keeps the problems that it knows, so that a restart changes nothing.
 */
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as JsonFile from "../../files/JsonFile.ts"
import { endWithin, singleFlight } from "../../internal/background.ts"
import { now } from "../../internal/monotonicMillis.ts"
import { excerpt } from "../../internal/printable.ts"
import { delivery, repeatAfter } from "../../internal/Schedules.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Node } from "../../services/StatusSnapshot.ts"
import { originOf } from "../httpClient/httpFailure.ts"
import * as Requests from "../httpClient/Requests.ts"
import { hideSecrets } from "../httpClient/secrets.ts"
import { isGone } from "../status/problems.ts"
import { reportOfProblems } from "../status/view.ts"
import type { AlertOptions } from "./AlertOptions.ts"
import { bodyOf, lineOf } from "./alertText.ts"
import { isRefusal, outcomeOf } from "./isRefusal.ts"
import * as Receiver from "./Receiver.ts"

/** How often it looks for changes. */
const checkEvery = "5 seconds"

/** The timeout of each request, in milliseconds. */
const postTimeout = 10_000

/** How long a post waits for the file. A disk that hangs is itself a problem to post. */
const saveLimit = "5 seconds"

/** Room for the longest texts of all problems. */
const maxBytes = 8 * 1024 * 1024

/** Posts until the scope ends. A receiver that does not accept alerts is a problem itself. */
export const make = Effect.fnUntraced(function* (
  { after, headers, url }: AlertOptions,
  node: Node | undefined,
  path?: string
) {
  const requests = yield* Requests.make({ maxTimeout: postTimeout, isWhole: true, maxBytes: 0 })
  const file = yield* JsonFile.make(path, Receiver.KnownProblem, {
    read: "the ends of problems before the restart are not posted",
    written: "after a restart, the ends of earlier problems are not posted",
    maxBytes
  })
  const saved = yield* file.read
  const alerts = yield* Ref.make(Receiver.restored(saved))
  const written = yield* Ref.make(JSON.stringify(saved))
  const earlier = saved.filter(({ problem }) => !isGone(problem))
  const sentHeaders = Record.map(headers, Redacted.value)
  const address = Redacted.value(url)
  const receiver = originOf(address)
  // The path of a hook is often a secret.
  const hide = hideSecrets(address, { ...sentHeaders, path: new URL(address).pathname.replaceAll("/", " ") })
  const undelivered = yield* Ref.make<ReadonlyArray<Problem>>([])
  const { read, register } = yield* ControllerState
  yield* register({
    name: "alerts",
    report: (slice, context) => ({ ...reportOfProblems("alerts")(slice, context), earlier }),
    live: Effect.zipWith(Ref.get(undelivered), Ref.get(alerts), (undelivered, alerts) => ({
      problems: [
        ...undelivered,
        ...Receiver.givenUp(alerts).map((change) => ({
          code: "alerts:refused",
          severity: "warning",
          subject: change.key.trim().replaceAll("\n", " "),
          text: `${receiver} accepts other alerts, but refuses the alert "${lineOf(change)}": ${change.reason}`
        }))
      ]
    }))
  })

  const look = Effect.gen(function* () {
    const { owned, view } = yield* read
    const time = yield* now
    yield* Ref.update(alerts, (before) => Receiver.looked(before, owned, view.mutes, time.monotonic))
    return { ...time, dashboard: view.dashboard }
  })

  const saves = yield* singleFlight<void, never>(yield* Effect.scope)
  const save = Effect.gen(function* () {
    const known = [...(yield* Ref.get(alerts)).known.values()]
    const mark = JSON.stringify(known)
    if (mark !== (yield* Ref.get(written)) && (yield* file.write(known))) yield* Ref.set(written, mark)
  }).pipe(saves.once, endWithin(saveLimit))

  /** Sends the next post, if there is one. Fails not sooner than the receiver may be asked again. */
  const deliver = Effect.gen(function* () {
    const seen = yield* look
    const before = yield* Ref.get(alerts)
    const post = Receiver.due(before, Duration.toMillis(after), seen.monotonic)
    yield* Ref.update(alerts, (now) => Receiver.posting(now, post))
    yield* save
    if (!Array.isNonEmptyReadonlyArray(post)) return yield* Ref.set(undelivered, [])
    const failed = Effect.fnUntraced(function* (failure: Requests.RequestFailed) {
      const { isLost, isRefused, reason } = outcomeOf(failure, postTimeout)
      if (isLost) yield* Ref.update(alerts, (now) => Receiver.lost(now, before, post))
      if (isRefused) yield* Ref.update(alerts, (now) => Receiver.refused(now, post, reason, seen.monotonic))
      const text = `Alerts cannot be delivered to ${receiver}, and Vitrine tries again until it works: ${reason}`
      yield* Ref.set(undelivered, [
        { code: "alerts:undelivered", severity: "warning", subject: receiver, text }
      ])
      yield* save
      return yield* Effect.delay(Effect.fail(isLost && !isRefused), failure.retryAfter ?? Duration.zero)
    })
    const standing = Receiver.standingCount(Receiver.accepted(before, post))
    const body = JSON.stringify(bodyOf(post, { ...seen, node, standing }))
    yield* requests
      .attempt({ url: address, headers: sentHeaders, body, follows: false, isStatusOnly: true })
      .pipe(
        Effect.filterOrElse(
          ({ text }) => !isRefusal(text),
          ({ status, text }) => {
            const detail = `it responds ${status}, and says: ${excerpt(hide(text))}`
            return new Requests.RequestFailed({ url: receiver, status, detail, isTransient: false })
          }
        ),
        Effect.catchAll(failed)
      )
    yield* Ref.update(alerts, (now) => Receiver.accepted(now, post))
    yield* Ref.set(undelivered, [])
    yield* save
  })

  yield* Effect.forkScoped(repeatAfter(checkEvery)(look))
  yield* deliver.pipe(Effect.retry(delivery), repeatAfter(checkEvery), Effect.forkScoped)
})
