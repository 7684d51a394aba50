/**
 * The faults that the server has now, and whose turn it is to have one.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { TableServer } from "../../../services/TableServer.ts"
import { tableId } from "../tables/identifiers.ts"
import { type CallManner, type Fault, isOfResponse, parseFault, type ResponseFault } from "./Fault.ts"

/** What a request is about. */
export type Place =
  | { readonly kind: "attachments" | "schema" | "webhooks" | "payloads" }
  | {
      readonly kind: "tables"
      /** Name or id, as the request gives it. */
      readonly table: string
    }

export interface Faults {
  /** As others see it. */
  readonly control: TableServer["Type"]["faults"]

  /** The fault that a request is to have: that of the first added whose turn it is. Later ones do not count it. */
  readonly take: (place: Place) => Effect.Effect<Option.Option<ResponseFault>>

  /** As `take`, for what only some calls can have: those that ask for it. */
  readonly takeOneOf: <Manner extends CallManner>(
    place: Place,
    manners: ReadonlyArray<Manner>
  ) => Effect.Effect<Option.Option<Manner>>
}

export const make = (initial: ReadonlyArray<Fault>): Faults => {
  let active: ReadonlyArray<Active> = initial.map(begin)

  const take = <A>(
    place: Place,
    select: (fault: Fault) => Option.Option<A>
  ): Effect.Effect<Option.Option<A>> =>
    Effect.sync(() => {
      for (const entry of active) {
        const selected = select(entry.fault)
        if (Option.isSome(selected) && concerns(entry.fault, place) && isDue(entry)) return selected
      }
      return Option.none()
    })

  return {
    control: {
      add: (text) =>
        Effect.map(parseFault(text), (fault) => {
          active = [...active, begin(fault)]
        }),
      clear: Effect.sync(() => {
        active = []
      })
    },
    take: (place) => take(place, Option.liftPredicate(isOfResponse)),
    takeOneOf: (place, manners) =>
      take(place, ({ what }) => Option.fromNullable(manners.find((manner) => manner === what)))
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
