/**
 * Faults that the table server can be told to have, and whose turn it is to have one. They are written as
 *
 * ```
 * WHERE WHAT [retry-after=SECONDS] [xCOUNT] [every=NUMBER]
 * ```
 *
 * WHERE is one of `places`, or the name or id of a table, which may have spaces. WHAT is a status from
 * 400 to 599, answered with the API's body for it and with `Retry-After` if that is given, or one of `faultKinds`.
 * Without more, every request has the fault; `xCOUNT` gives it to so many, `every=NUMBER` to every NUMBERth request.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { tableId } from "./identifiers.ts"
import { InvalidFault } from "./TableServerService.ts"

/** What can go wrong with every response, beside a status. */
const responseKinds = [
  "quota",
  "html",
  "no-records",
  "short",
  "cut",
  "reset",
  "slow",
  "stall",
  "stall-body"
] as const

/** Faults of every request about webhooks. */
export const lifeKinds = ["disabled", "deleted"] as const

/** Faults of listings of payloads. */
export const webhookKinds = [
  ...lifeKinds,
  "invalid-filters",
  "invalid-hook",
  "internal-error",
  "unknown-error",
  "dropped",
  "endless"
] as const
export type WebhookKind = (typeof webhookKinds)[number]

/** What can go wrong with some calls; no other call has it. */
const callKinds = ["iterator", "no-creator", ...webhookKinds] as const
type CallKind = (typeof callKinds)[number]

export const faultKinds = [...responseKinds, ...callKinds] as const

/** What a fault can be about, beside the name or id of a table. `webhooks` has `payloads` in it. */
export const places = ["tables", "attachments", "webhooks", "payloads", "schema", "all"] as const

export interface Fault {
  /** As it was written. */
  readonly text: string
  readonly where: string
  readonly what: number | (typeof faultKinds)[number]
  /** In seconds, of a status. */
  readonly retryAfter?: number
  /** How many requests have it. */
  readonly count: number
  /** 2 is every second request. */
  readonly every: number
}

/** A fault that every response can have. */
export interface ResponseFault extends Fault {
  readonly what: number | (typeof responseKinds)[number]
}

const isOfResponse = (fault: Fault): fault is ResponseFault =>
  typeof fault.what === "number" || responseKinds.some((kind) => kind === fault.what)

export const parseFault = (text: string): Either.Either<Fault, InvalidFault> => {
  const { count, every, retryAfter, what = "", where = "" } = form.exec(text)?.groups ?? {}
  const kind = /^[45]\d\d$/.test(what) ? Number(what) : faultKinds.find((kind) => kind === what)
  return where === "" || kind === undefined || (typeof kind === "string" && retryAfter !== undefined)
    ? Either.left(new InvalidFault({ text, expected }))
    : Either.right({
        text,
        where: where.normalize(),
        what: kind,
        ...(retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) }),
        count: count === undefined ? Number.POSITIVE_INFINITY : Number(count),
        every: every === undefined ? 1 : Number(every)
      })
}

const form =
  /^\s*(?<where>\S.*?)\s+(?<what>[a-z0-9-]+)(?:\s+retry-after=(?<retryAfter>\d{1,6}))?(?:\s+x(?<count>[1-9]\d{0,8}))?(?:\s+every=(?<every>[1-9]\d{0,8}))?\s*$/

/** What a text must be to be a fault. */
export const expected = `"WHERE WHAT [retry-after=SECONDS] [xCOUNT] [every=NUMBER]", as in "Objects 503 x2", where WHERE is ${places.join(", ")} or a table, and WHAT a status from 400 to 599 or ${faultKinds.join(", ")}`

/** What a request is about. */
export type Place =
  | { readonly kind: "attachments" | "schema" | "webhooks" | "payloads" }
  | {
      readonly kind: "tables"
      /** Name or id, as the request gives it. */
      readonly table: string
    }

export type Faults = ReturnType<typeof make>

export const make = (initial: ReadonlyArray<Fault>) => {
  let active: ReadonlyArray<Active> = initial.map(begin)

  const takeWhere = <A>(place: Place, select: (fault: Fault) => Option.Option<A>) =>
    Effect.sync((): Option.Option<A> => {
      for (const entry of active) {
        const selected = select(entry.fault)
        if (Option.isSome(selected) && concerns(entry.fault, place) && isDue(entry)) return selected
      }
      return Option.none()
    })

  return {
    /** As others see it. */
    control: {
      add: (text: string) =>
        Effect.map(parseFault(text), (fault) => {
          active = [...active, begin(fault)]
        }),
      clear: Effect.sync(() => {
        active = []
      })
    },

    /** The fault that a request is to have: that of the first added whose turn it is. Later ones do not count it. */
    take: (place: Place) => takeWhere(place, Option.liftPredicate(isOfResponse)),

    /** As `take`, for what only some calls can have: those that ask for it. */
    takeOneOf: <Kind extends CallKind>(place: Place, kinds: ReadonlyArray<Kind>) =>
      takeWhere(place, ({ what }) => Option.fromNullable(kinds.find((kind) => kind === what)))
  }
}

interface Active {
  readonly fault: Fault
  /** Requests that could have had it. */
  seen: number
}

const begin = (fault: Fault): Active => ({ fault, seen: 0 })

const isDue = (entry: Active): boolean => {
  const { count, every } = entry.fault
  entry.seen += 1
  return entry.seen % every === 0 && entry.seen / every <= count
}

const concerns = ({ where }: Fault, place: Place): boolean => {
  if (where === "all" || where === place.kind) {
    return true
  }
  if (place.kind === "payloads") {
    return where === "webhooks"
  }
  return (
    place.kind === "tables" &&
    [place.table.normalize(), tableId(place.table.normalize())].some((table) =>
      [where, tableId(where)].includes(table)
    )
  )
}
