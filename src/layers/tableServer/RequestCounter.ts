/**
 * How many requests came, for tests of clients.
 */
import * as Effect from "effect/Effect"
import type { RequestCounts } from "../../services/TableServer.ts"
import type { Place } from "./faults/Faults.ts"

export interface RequestCounter {
  readonly counts: Effect.Effect<RequestCounts>
  readonly request: (place: Place) => Effect.Effect<void>
  /** Counts one of those above as refused. */
  readonly rateLimited: Effect.Effect<void>
}

/** Tables are named by clients: more than these are not counted. */
export const maxTables = 1000

export const make = (): RequestCounter => {
  const tables = new Map<string, number>()
  const others = { attachments: 0, webhooks: 0, payloads: 0, schema: 0 }
  let rateLimited = 0
  return {
    counts: Effect.sync(() => ({ tables: Object.fromEntries(tables), ...others, rateLimited })),
    request: (place) =>
      Effect.sync(() => {
        if (place.kind !== "tables") {
          others[place.kind] += 1
        } else if (tables.has(place.table) || tables.size < maxTables) {
          tables.set(place.table, (tables.get(place.table) ?? 0) + 1)
        }
      }),
    rateLimited: Effect.sync(() => {
      rateLimited += 1
    })
  }
}
