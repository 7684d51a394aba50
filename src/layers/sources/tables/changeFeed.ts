/**
 * Whether anything in a hosted base has changed, from the list of a webhook that this controller makes
 * (docs/content.md, Airtable). The webhooks have no address to notify.
 *
 * Every problem with the webhook has the same answer: make a new webhook, and read everything.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { makeLastFailure } from "../../../internal/Schedules.ts"
import type { ChangeFeed, TableChanges, TableError } from "../../../services/TableSourceClient.ts"
import { type Api, decodeOther } from "./api.ts"
import type { BaseRequest } from "./requestErrors.ts"
import type { AirtableClientOptions } from "./TableSourceOptions.ts"

/** Pages of 50 changes each. Further changes come with the next call. */
const maxPages = 10

/**
 * The pause after a webhook could not be made for a reason that may pass. The server may have made it, and only the answer was
 * lost: it stays for a week, and a base has room for ten.
 */
const lostPause = Duration.minutes(10)

/** The id of a webhook, and the number of its next change. */
interface Position {
  readonly id: string
  readonly cursor: number
}

export const makeChangeFeed = (api: Api, options: AirtableClientOptions): ChangeFeed => {
  const webhooks = makeWebhooks(api, options)
  const failure = makeLastFailure<TableError>(() => lostPause)

  const begin = Effect.flatMap(
    failure.paused,
    Option.match({
      onSome: ({ error }) => error,
      onNone: () =>
        Effect.tapError(webhooks.create, (error) =>
          Effect.when(failure.failed(error), () => error.isTransient)
        )
    })
  ).pipe(Effect.map((id): TableChanges => ({ position: format({ id, cursor: 1 }), changed: "everything" })))

  /** The replaced webhook is removed, because a base has room for ten. */
  const beginAgain = ({ id }: Position, why: string) =>
    Effect.logWarning(`Changes are unknown, so everything is read: the webhook ${api.quote(id)} ${why}`).pipe(
      Effect.zipRight(Effect.ignore(webhooks.remove(id))),
      Effect.zipRight(begin)
    )

  const readFrom = Effect.fnUntraced(function* (from: Position) {
    const { id } = from
    let { cursor } = from
    for (let pages = 0; pages < maxPages; pages++) {
      const page = yield* Effect.catchIf(
        Effect.asSome(webhooks.payloads(id, cursor)),
        isGone,
        () => Effect.succeedNone
      )
      if (Option.isNone(page)) return yield* beginAgain(from, "is gone")
      const { cursor: next, mightHaveMore, payloads } = page.value
      const failed = payloads.find(({ error }) => error === true)
      if (failed !== undefined) {
        return yield* beginAgain(from, `reports the error ${api.quote(String(failed.code))}`)
      }
      if (next !== cursor + payloads.length)
        return yield* beginAgain(from, `no longer lists the changes after ${cursor}`)
      cursor = next
      if (!mightHaveMore) break
    }
    return {
      position: format({ id, cursor }),
      changed: cursor === from.cursor ? "nothing" : "everything"
    } satisfies TableChanges
  })

  return {
    since: Effect.fn("ChangeFeed.since")((position) =>
      Option.match(Option.flatMap(position, parse), { onNone: () => begin, onSome: readFrom })
    ),
    end: (position) =>
      Option.match(parse(position), { onNone: () => Effect.void, onSome: ({ id }) => webhooks.remove(id) })
  }
}

const format = ({ cursor, id }: Position): string => `${id} ${cursor}`

const parse = (position: string): Option.Option<Position> => {
  const [id = "", cursor = ""] = position.split(" ")
  return Option.liftPredicate(
    { id, cursor: Number(cursor) },
    ({ cursor }) => id !== "" && Number.isSafeInteger(cursor)
  )
}

/** Whether the webhook, or its change with this number, does not exist. */
const isGone = ({ reason }: TableError): boolean => reason === "NotFound" || reason === "Refused"

/** A part of the changes, and the number where the next part begins. */
const Payloads = Schema.Struct({
  payloads: Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  cursor: Schema.NonNegativeInt,
  mightHaveMore: Schema.optionalWith(Schema.Boolean, { exact: true, default: () => false })
})

const decodeCreated = decodeOther(Schema.Struct({ id: Schema.NonEmptyString }), "a webhook")
const decodePayloads = decodeOther(Payloads, "a list of changes")
const decodeNothing = decodeOther(Schema.Unknown, "nothing")

/** The number of changes in a list, the maximum of the API. */
const limit = 50

/** Without scopes, because a scope becomes invalid when its table or field is removed. */
const specification = {
  options: { filters: { dataTypes: ["tableData", "tableFields", "tableMetadata"] } }
}

/** The webhooks of a base. */
const makeWebhooks = ({ askForOne }: Api, { baseId }: AirtableClientOptions) => {
  const request = (method: BaseRequest["method"], ...below: ReadonlyArray<string>) =>
    ({ table: "", method, path: ["bases", baseId, "webhooks", ...below] }) as const
  const reader = 'the scope "webhook:manage"'
  const creator = 'the scope "webhook:manage" and the role of a creator of the base'

  return {
    /** Returns the id of the new webhook. */
    create: Effect.map(
      askForOne({ ...request("POST"), body: { specification }, needs: creator }, decodeCreated),
      ({ id }) => id
    ),

    remove: (id: string) =>
      Effect.asVoid(askForOne({ ...request("DELETE", id), needs: creator }, decodeNothing)),

    /** The changes from this number on. The call keeps the webhook for another week. */
    payloads: (id: string, cursor: number) =>
      askForOne(
        {
          ...request("GET", id, "payloads"),
          parameters: { cursor: String(cursor), limit: String(limit) },
          needs: reader
        },
        decodePayloads
      )
  }
}
