/**
 * What has changed in a hosted base, as one of its webhooks lists it (docs/content.md, Airtable).
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { excerpt } from "../../../internal/printable.ts"
import { type ChangeFeed, type TableChanges, TableError } from "../../../services/TableSourceClient.ts"
import type { AirtableClientOptions } from "./AirtableOptions.ts"
import type { Api } from "./api.ts"
import { isAmong, readSchema, withDependents } from "./baseSchema.ts"
import type { Position, SharedFeed } from "./sharedFeeds.ts"
import { isAlive, isPlain, makeWebhooks, type Payloads, type Webhook } from "./webhooks.ts"

/** Pages of 50 changes each; further ones are not read. */
const maxPages = 10

/** How often the list of webhooks is read: nothing else says that one is disabled. */
const checkEvery = Duration.hours(1)

/** How often the list of changes may start again. */
const restartEvery = Duration.minutes(10)

export const makeChangeFeed = (api: Api, options: AirtableClientOptions, shared: SharedFeed): ChangeFeed => {
  const { quote } = api
  const { broken } = shared
  const webhooks = makeWebhooks(api, options)

  const list = Effect.zipWith(webhooks.list, Clock.currentTimeMillis, (list, now) => {
    for (const id of broken) {
      if (!list.some((webhook) => webhook.id === id)) broken.delete(id)
    }
    const listed = list.map((webhook) => ({
      ...webhook,
      isPlain: isPlain(webhook),
      isUsable: isPlain(webhook) && isAlive(webhook, now) && !broken.has(webhook.id)
    }))
    shared.usable = new Set(listed.flatMap(({ id, isUsable }) => (isUsable ? [id] : [])))
    shared.listedAt = now
    return listed
  })

  /** The last change that it lists is read, because an error would be there. */
  const endOf = Effect.fnUntraced(function* ({ cursorForNextPayload, id }: Webhook) {
    const { cursor, payloads } = yield* webhooks.payloads(id, Math.max(1, cursorForNextPayload - 1))
    return errorIn(payloads) === undefined
      ? Option.some({ id, cursor: Math.max(cursor, cursorForNextPayload) })
      : Option.none<Position>()
  })

  /** Makes one, and gives the first of all: several controllers may make one at the same time, and one is enough. */
  const create = Effect.gen(function* () {
    const own = yield* Effect.mapError(webhooks.create, (error) =>
      withAdvice(error, options.baseId, [...broken].map(quote))
    )
    const all = yield* list
    const first = all.find(({ isUsable }) => isUsable)
    const needless = all.filter(({ id, isPlain, isUsable }) => isPlain && (isUsable ? id === own : true))
    for (const { id } of needless) {
      yield* id === first?.id ? Effect.void : Effect.ignore(webhooks.remove(id))
    }
    const id = first?.id ?? own
    shared.usable.add(id)
    yield* Effect.logInfo(`The base has a webhook now that lists what changes: ${quote(id)}`)
    return { id, cursor: first?.cursorForNextPayload ?? 1 }
  })

  /** Where things stand, in the first webhook that will do. */
  const locate = Effect.gen(function* () {
    for (const webhook of yield* list) {
      const end = webhook.isUsable ? yield* endOf(webhook) : Option.none()
      if (Option.isSome(end)) return end.value
      if (webhook.isUsable) broken.add(webhook.id)
    }
    return yield* create
  })

  /** Refused for good; whatever else goes wrong with it is tried again. */
  const loadSchema = Effect.gen(function* () {
    if (shared.schema === undefined) {
      shared.schema = yield* readSchema(api, options).pipe(
        Effect.catchIf(
          ({ reason }) => reason === "NotFound",
          () =>
            Effect.as(
              Effect.logInfo(
                'The API key has no scope "schema.bases:read": where anything has changed, all tables are read'
              ),
              "refused" as const
            )
        ),
        Effect.orElseSucceed(() => undefined)
      )
    }
    return shared.schema
  })

  const begin = Effect.zipLeft(locate, loadSchema)

  const beginAgain = Effect.fnUntraced(function* (from: Position, why: string) {
    const now = yield* Clock.currentTimeMillis
    const { restart } = shared
    if (restart !== undefined && isBefore(from, restart.position)) {
      return everythingSince(restart.position)
    }
    if (restart !== undefined && now - restart.at < Duration.toMillis(restartEvery)) {
      return yield* new TableError({
        table: "",
        reason: "UnexpectedAnswer",
        detail: `${why}, again within ${Duration.format(restartEvery)}. See "vitrine watch list --base ${options.baseId}"`
      })
    }
    const position = yield* begin
    shared.restart = { at: now, position }
    yield* Effect.logWarning(`Changes are not known, all tables are read: ${why}`)
    return everythingSince(position)
  })

  const check = Effect.fnUntraced(function* (id: string) {
    const now = yield* Clock.currentTimeMillis
    if (now - shared.listedAt >= Duration.toMillis(checkEvery)) {
      yield* list
    }
    return shared.usable.has(id)
  })

  const readFrom = Effect.fnUntraced(function* (from: Position) {
    const { cursor, id } = from
    const name = `the webhook ${quote(id)}`
    if (!(yield* check(id))) {
      return yield* beginAgain(from, `${name} is gone or disabled`)
    }
    let found: Payloads["payloads"] = []
    let next = cursor
    for (let pages = 0; pages < maxPages; pages++) {
      const page = yield* Effect.catchIf(webhooks.payloads(id, next), isGone, ({ detail }) =>
        Effect.succeed(detail)
      )
      if (Predicate.isString(page)) {
        return yield* beginAgain(from, `${name} is gone, or cannot be read from ${next} on: ${page}`)
      }
      const error = errorIn(page.payloads)
      if (error !== undefined) {
        broken.add(id)
        return yield* beginAgain(from, `${name} reports the error ${quote(error)}`)
      }
      if (page.cursor !== next + page.payloads.length) {
        return yield* beginAgain(from, `${name} no longer lists what came after ${next}`)
      }
      found = [...found, ...page.payloads]
      next = page.cursor
      if (!page.mightHaveMore) {
        return {
          position: text({ id, cursor: next }),
          changed: yield* changedIn(found)
        } satisfies TableChanges
      }
    }
    return yield* beginAgain(from, `${name} lists more than ${found.length} changes`)
  })

  const changedIn = Effect.fnUntraced(function* (payloads: Payloads["payloads"]) {
    if (payloads.length === 0) {
      return () => false
    }
    if (payloads.some(changesTables)) {
      shared.schema = shared.schema === "refused" ? shared.schema : undefined
      return constTrue
    }
    const ids = new Set(payloads.flatMap(({ changedTablesById }) => keysOf(changedTablesById)))
    const known = yield* loadSchema
    if (known === undefined || known === "refused") {
      return constTrue
    }
    if ([...ids].every((id) => known.some((table) => table.id === id))) {
      return isAmong(known, withDependents(known, ids))
    }
    shared.schema = undefined
    return constTrue
  })

  const ask = Option.match({
    onNone: () => Effect.map(begin, everythingSince),
    onSome: readFrom
  })

  return {
    since: Effect.fn("ChangeFeed.since")(function* (from) {
      const position = Option.getOrElse(from, () => "")
      const before = shared.answer
      const answer = Effect.suspend(() => {
        const { answer } = shared
        return answer !== undefined && answer !== before && answer.position === position
          ? answer.exit
          : Effect.onExit(ask(Option.flatMap(from, parse)), (exit) =>
              Effect.sync(() => {
                shared.answer = Exit.isInterrupted(exit) ? undefined : { position, exit }
              })
            )
      })
      return yield* shared.asking.withPermits(1)(answer)
    })
  }
}

/** For a list that begins here, without earlier changes. */
const everythingSince = (position: Position): TableChanges => ({
  position: text(position),
  changed: "everything"
})

/** Whether a reader at this position does not know yet that the list started again. */
const isBefore = ({ cursor, id }: Position, restart: Position): boolean =>
  id !== restart.id || cursor < restart.cursor

const text = ({ cursor, id }: Position): string => `${id} ${cursor}`

const parse = (position: string): Option.Option<Position> => {
  const [id = "", cursor = ""] = position.split(" ")
  return Option.liftPredicate({ id, cursor: Number(cursor) }, ({ cursor }) => Number.isSafeInteger(cursor))
}

/** The code of the first error among them. */
const errorIn = (payloads: Payloads["payloads"]): string | undefined => {
  const failed = payloads.find(({ error }) => error === true)
  return failed === undefined ? undefined : String(failed.code)
}

/** Whether tables came, went, or have other names. */
const changesTables = ({
  changedTablesById,
  createdTablesById,
  destroyedTableIds
}: Payloads["payloads"][number]) =>
  keysOf(createdTablesById).length > 0 ||
  (Array.isArray(destroyedTableIds) && destroyedTableIds.length > 0) ||
  (Predicate.isReadonlyRecord(changedTablesById) &&
    Object.values(changedTablesById).some((change) => Predicate.hasProperty(change, "changedMetadata")))

const keysOf = (value: unknown): ReadonlyArray<string> =>
  Predicate.isReadonlyRecord(value) ? Object.keys(value) : []

/** Whether the webhook, or its change of this number, is not there. */
const isGone = ({ reason, status }: TableError): boolean =>
  reason === "NotFound" || (reason === "Refused" && status !== 401)

/** What to do where none can be made: those that are broken are in the way of another one. */
const withAdvice = (error: TableError, baseId: string, broken: ReadonlyArray<string>): TableError => {
  const command = (action: string) => `"vitrine watch ${action} --base ${baseId}"`
  const commands = [...broken.map((id) => command(`remove ${excerpt(id)}`)), command("create")].join(
    " and then "
  )
  const advice =
    error.reason === "NotFound"
      ? `Run ${commands} once with a token that may`
      : error.reason === "Refused"
        ? `See ${command("list")}, and remove some with "vitrine watch remove"`
        : undefined
  return advice === undefined
    ? error
    : new TableError({
        table: "",
        reason: error.reason,
        detail: `the base has no webhook that lists what changes, and none can be made: ${error.detail}. ${advice}`
      })
}
