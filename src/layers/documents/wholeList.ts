/**
 * Reading a list of a server page by page, whole or not at all.
 *
 * It owns what may go wrong between pages: items that come twice, lists that end early, change, go round in a circle or do not end. What
 * to ask for, and what an answer means, is up to its callers. It holds one page, and the ids of what was read.
 */
import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { excerpt } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"

/** More pages than these are taken for a list without an end. */
export const maxPages = 10_000

/** More items of one list are too many. */
export const maxItems = 1_000_000

/** Pages in a row without an item that is new. While items are added, some are on the page behind once more. */
const maxStale = 3

/** A list was not the same from its first page to its last, or has fewer items than its server says. */
export class ListNotWhole extends Schema.TaggedError<ListNotWhole>()("vitrine/ListNotWhole", {
  /** What is read, such as `Document "events"`. */
  list: Schema.String,
  detail: Schema.String
}) {
  readonly isTransient = true
  override get message() {
    return `${this.list}: ${this.detail}`
  }
}

/** What an answer says. */
export interface ListPage<Position> {
  readonly items: ReadonlyArray<unknown>
  /** How many items all pages have. */
  readonly total?: number | undefined
  /** How many pages there are. */
  readonly pages?: number | undefined
  /** Takes secrets out of words with something of the answer in them. */
  readonly hide?: (text: string) => string
  /** Where the page behind it is. */
  readonly next: Option.Option<Position>
}

/** How far a list was read before a page. */
export interface ListProgress {
  /** Of the page, from 1. */
  readonly number: number
  /** How many items have come, those that came twice counted twice. */
  readonly read: number
}

export interface List<Position, E> {
  /** What is read, such as `Document "events"`. */
  readonly name: string
  readonly start: Position
  readonly read: (position: Position, progress: ListProgress) => Effect.Effect<ListPage<Position>, E>
  /** Whether positions are counted up, so that each page has one behind it: it ends with an empty page, or where the server says so. */
  readonly isCounted: boolean
  /** What identifies an item; where it is `None`, all that is in it does. */
  readonly idOf: (item: unknown) => Option.Option<string>
  /** What can never be right, however often it is read. */
  readonly failed: (detail: string) => E
  /** What to do where the first page comes again as the second. */
  readonly firstAgain: string
  /** What to do where ids are not those of single items. */
  readonly keyAdvice: string
  /** What to do where the total of a server is not to be believed. */
  readonly totalAdvice: string
}

export interface WholeList<E> {
  /** The items, each once. */
  readonly pages: Stream.Stream<ReadonlyArray<unknown>, E | ListNotWhole>
  /** Runs what reads `pages` once more, from its start, where the list was not whole. */
  readonly again: <A, F, R>(use: Effect.Effect<A, F, R>) => Effect.Effect<A, F, R>
}

export const wholeList = <Position, E>(list: List<Position, E>): WholeList<E> => ({
  pages: Stream.suspend(() => pagesOf(list)),
  again: (use) =>
    Effect.catchAll(use, (error) =>
      error instanceof ListNotWhole
        ? Effect.zipRight(Effect.logWarning(`${error.message}. It is read again from its beginning`), use)
        : Effect.fail(error)
    )
})

interface State<Position> extends ListProgress {
  readonly position: Position
  readonly total: number | undefined
  /** How many pages before it had items, but no new one. */
  readonly stale: number
}

const pagesOf = <Position, E>(list: List<Position, E>) => {
  const asked = new Set<Position>()
  const seen = new Map<string, number>()
  const start: State<Position> = { position: list.start, number: 1, read: 0, total: undefined, stale: 0 }

  return Stream.paginateEffect(
    start,
    Effect.fnUntraced(function* ({ number, position, stale: staleBefore, ...before }: State<Position>) {
      asked.add(position)
      const page = yield* list.read(position, { number, read: before.read })
      const { hide = identity, items, next, pages, total } = page
      const failed = (detail: string) => list.failed(hide(`page ${number}: ${detail}`))
      const notWhole = (detail: string) => new ListNotWhole({ list: list.name, detail: hide(detail) })
      if (total !== undefined && before.total !== undefined && total < before.total) {
        return yield* notWhole(
          `page ${number}: the list has become shorter while it was read, from ${before.total} to ${total}: items may be missing. ${list.totalAdvice}`
        )
      }
      const { added, repeated, twin } = yield* Effect.try({
        try: () => sift(items, list.idOf, seen, number),
        catch: () => failed("it is nested too deeply")
      })
      if (twin !== undefined) {
        return yield* Effect.fail(
          failed(`two records are not the same, but both have the key ${excerpt(twin)}. ${list.keyAdvice}`)
        )
      }
      const isStale = items.length > 0 && added.length === 0
      const stale = isStale ? staleBefore + 1 : 0
      // A page of nothing but what has come may be the end of the list. With something new on it or behind it, items have moved.
      if (added.length > 0 && (repeated !== undefined || staleBefore > 0)) {
        return yield* notWhole(
          repeated === undefined
            ? `page ${number}: it has new records behind a page without one: the list has changed while it was read`
            : `the record ${excerpt(repeated.id)} is on page ${repeated.page} and on page ${number}: others may be missing. Ask for an order that does not change. If these are two records: ${list.keyAdvice}`
        )
      }
      if (seen.size > maxItems) return yield* Effect.fail(failed(`there are more than ${maxItems} records`))

      const isSaidEnd =
        (pages !== undefined && number >= pages && (total === undefined || seen.size >= total)) ||
        (total !== undefined && seen.size >= total)
      const isRound =
        Option.exists(next, (position) => asked.has(position)) || (list.isCounted && stale === maxStale)
      const isEnd = Option.isNone(next) || isRound || (list.isCounted && (items.length === 0 || isSaidEnd))
      if (!isEnd) {
        if (number === maxPages) {
          return yield* Effect.fail(
            failed(`there are more than ${maxPages} pages, which looks like a list without an end`)
          )
        }
        const state = {
          position: next.value,
          number: number + 1,
          read: before.read + items.length,
          total,
          stale
        }
        return [added, Option.some(state)] as const
      }
      if (isRound && items.length > 0 && number === stale + 1 && !(isSaidEnd && list.isCounted)) {
        return yield* Effect.fail(failed(list.firstAgain))
      }
      const said = total ?? before.total
      if (said !== undefined && seen.size < said) {
        return yield* notWhole(
          `the list ends after ${countText(seen.size, "record")}, but the server says that there are ${said}. ${list.totalAdvice}`
        )
      }
      const filled = items.length === 0 || isStale ? number - 1 - staleBefore : number
      if (said === undefined && pages !== undefined && filled < pages) {
        return yield* notWhole(
          `the list ends after ${countText(filled, "page")}, but the server says that there are ${pages}. ${list.totalAdvice}`
        )
      }
      return [added, Option.none<State<Position>>()] as const
    })
  )
}

interface Sifted {
  readonly added: ReadonlyArray<unknown>
  /** An id that came on a page before. */
  readonly repeated: { readonly id: string; readonly page: number } | undefined
  /** An id that two items of this page have which are not the same. */
  readonly twin: string | undefined
}

const sift = (
  items: ReadonlyArray<unknown>,
  idOf: (item: unknown) => Option.Option<string>,
  seen: Map<string, number>,
  number: number
): Sifted => {
  const added: Array<unknown> = []
  const here = new Map<string, unknown>()
  let repeated: Sifted["repeated"]
  for (const item of items) {
    const known = idOf(item)
    const id = Option.getOrElse(known, () => digest(item))
    const page = seen.get(id)
    if (page === undefined) {
      seen.set(id, number)
      here.set(id, item)
      added.push(item)
    } else if (page !== number) {
      if (Option.isSome(known)) repeated ??= { id, page }
    } else if (Option.isSome(known) && digest(here.get(id)) !== digest(item)) {
      return { added, repeated, twin: id }
    }
  }
  return { added, repeated, twin: undefined }
}

const digest = (item: unknown): string =>
  `sha256 ${createHash("sha256").update(JSON.stringify(item)).digest("base64")}`
