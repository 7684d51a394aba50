/**
 * What has changed in a hosted base, as one of its webhooks lists it (docs/change-feed.md).
 *
 * A position is the id of a webhook and the number of its next change.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { type ChangeFeed, type TableChanges, TableError } from "../../services/TableSourceClient.ts"
import type { AirtableClientOptions } from "./AirtableOptions.ts"
import type { Api } from "./api.ts"
import { type BaseSchema, isAmong, readSchema, withDependents } from "./baseSchema.ts"
import { isAlive, isPlain, makeWebhooks, type Payloads, type Webhook } from "./webhooks.ts"

/** Of 50 changes each; what is behind is not read. */
const maxPages = 10

/** How often the list of webhooks is read: nothing else says that one is disabled. */
const checkEvery = Duration.hours(1)

/** How often the list of changes may begin anew. */
const restartEvery = Duration.minutes(10)

interface Position {
  readonly id: string
  readonly cursor: number
}

export const makeChangeFeed = (api: Api, options: AirtableClientOptions): ChangeFeed => {
  const { quote } = api.errors
  const webhooks = makeWebhooks(api, options)
  /** Those of the base that have listed an error. */
  const broken = new Set<string>()
  let checkedAt = Number.NEGATIVE_INFINITY
  let restartedAt = Number.NEGATIVE_INFINITY
  let schema: BaseSchema | "refused" | undefined

  const list = Effect.zipWith(webhooks.list, Clock.currentTimeMillis, (list, now) => {
    checkedAt = now
    for (const id of broken) {
      if (!list.some((webhook) => webhook.id === id)) broken.delete(id)
    }
    return list.map((webhook) => ({
      ...webhook,
      isPlain: isPlain(webhook),
      isUsable: isPlain(webhook) && isAlive(webhook, now) && !broken.has(webhook.id)
    }))
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
    if (schema === undefined) {
      schema = yield* readSchema(api, options).pipe(
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
    return schema
  })

  const begin = Effect.gen(function* () {
    const position = yield* locate
    yield* loadSchema
    return { position: text(position), changed: "everything" } satisfies TableChanges
  })

  const beginAgain = Effect.fnUntraced(function* (why: string) {
    const now = yield* Clock.currentTimeMillis
    if (now - restartedAt < Duration.toMillis(restartEvery)) {
      return yield* new TableError({
        table: "",
        reason: "UnexpectedAnswer",
        detail: `${why}, again within ${Duration.format(restartEvery)}. See "vitrine watch list --base ${options.baseId}"`
      })
    }
    const changes = yield* begin
    restartedAt = now
    yield* Effect.logWarning(`What has changed is not known, all tables are read: ${why}`)
    return changes
  })

  const check = Effect.fnUntraced(function* (id: string) {
    const now = yield* Clock.currentTimeMillis
    return (
      now - checkedAt < Duration.toMillis(checkEvery) ||
      (yield* list).some((webhook) => webhook.id === id && webhook.isUsable)
    )
  })

  const readFrom = Effect.fnUntraced(function* ({ cursor, id }: Position) {
    const name = `the webhook ${quote(id)}`
    if (!(yield* check(id))) {
      return yield* beginAgain(`${name} is gone or disabled`)
    }
    const found: Array<Payloads["payloads"][number]> = []
    let next = cursor
    for (let pages = 0; pages < maxPages; pages++) {
      const page = yield* Effect.catchIf(webhooks.payloads(id, next), isGone, ({ detail }) =>
        Effect.succeed(detail)
      )
      if (Predicate.isString(page)) {
        return yield* beginAgain(`${name} is gone, or cannot be read from ${next} on: ${page}`)
      }
      const error = errorIn(page.payloads)
      if (error !== undefined) {
        broken.add(id)
        return yield* beginAgain(`${name} reports the error ${quote(error)}`)
      }
      if (page.cursor !== next + page.payloads.length) {
        return yield* beginAgain(`${name} no longer lists what came after ${next}`)
      }
      found.push(...page.payloads)
      next = page.cursor
      if (!page.mightHaveMore) {
        return {
          position: text({ id, cursor: next }),
          changed: yield* changedIn(found)
        } satisfies TableChanges
      }
    }
    return yield* beginAgain(`${name} lists more than ${found.length} changes`)
  })

  const changedIn = Effect.fnUntraced(function* (payloads: Payloads["payloads"]) {
    if (payloads.length === 0) {
      return () => false
    }
    if (payloads.some(changesTables)) {
      schema = schema === "refused" ? schema : undefined
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
    schema = undefined
    return constTrue
  })

  return {
    since: Effect.fn("ChangeFeed.since")((position) =>
      Option.match(Option.flatMap(position, parse), { onNone: () => begin, onSome: readFrom })
    )
  }
}

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
  const commands = [...broken.map((id) => command(`remove ${id}`)), command("create")].join(" and then ")
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
