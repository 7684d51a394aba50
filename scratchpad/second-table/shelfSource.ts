/**
 * Shelves as a source of content: the table source, over the client of this API.
 */
import { Effect, Redacted } from "effect"
import { type ContentSource, TableSource, TableSourceClient } from "vitrine"
import * as ShelfClient from "./ShelfClient.ts"

export interface ShelfSourceConfig {
  readonly id: string
  readonly url: string
  readonly token: string
  readonly shelves: ReadonlyArray<string>
}

export const shelfSource = ({
  id,
  shelves,
  token,
  url
}: ShelfSourceConfig): ContentSource.ContentSourceDefinition => ({
  id,
  issues: [],
  make: Effect.provideServiceEffect(
    TableSource.make({ id, tables: shelves, defaultView: null }),
    TableSourceClient.TableSourceClient,
    ShelfClient.make({ url, token: Redacted.make(token) })
  )
})
