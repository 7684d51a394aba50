/**
 * Lists that come in pages: whole, or an error.
 *
 * It owns what may go wrong between pages: items that come twice or not at all, pages that come again, lists without an end. What is asked,
 * and what an answer means, belongs to the source.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { sha256OfText } from "../../files/sha256.ts"
import { excerpt } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"

/** A page of a list. */
export interface ListPage<Position, Item> {
  readonly items: ReadonlyArray<Item>
  /** Where the list continues; none after the last page. */
  readonly next: Option.Option<Position>
  /** How many items the server says there are on all pages. */
  readonly total?: number | undefined
  /** How many pages the server says there are. */
  readonly pages?: number | undefined
}

/** How far a list is read, page by page. */
export interface PageRead extends Pick<ListPage<unknown, unknown>, "pages" | "total"> {
  /** The number of the page, from 1. */
  readonly number: number
  /** How many records came on it. */
  readonly records: number
  /** How many records came on the first page. */
  readonly firstRecords: number
  /** How many have come so far, with those of this page. */
  readonly read: number
}

/**
 * Whether a page is shorter than it would be if another one followed: than the first one, or where it is that one, than `size`. A server
 * that gives fewer at once than it is asked for gives as many on each page.
 */
export const isShort = ({ firstRecords, number, records }: Omit<PageRead, "read">, size = 0): boolean =>
  records < (number > 1 ? firstRecords : size)

/** Whether all has come that there is, as the server states it. */
export const hasAll = ({
  number,
  pages,
  read,
  total
}: Omit<PageRead, "firstRecords" | "records">): boolean =>
  total === undefined ? pages !== undefined && number >= pages : read >= total

/** Whether no page follows. Some servers state too little, such as what is on one page: a full page is never the last one. */
export const isLast = (page: PageRead, size?: number): boolean =>
  page.records === 0 || (hasAll(page) && isShort(page, size))

/** What is known of the items of a list. */
interface Items<Item> {
  /** What the list is called in messages, as in `Document "events"`. */
  readonly name: string
  /** Equal for the same item on any page; none if items cannot be distinguished. */
  readonly idOf: (item: Item) => Option.Option<string>
  /** What to check where items are missing, or come twice. Default nothing. */
  readonly advice?: { readonly missing?: string; readonly twice?: string }
  /** Whether the server may count and give an item more than once. It is read once then. Default false. */
  readonly mayRepeatItems?: boolean
}

export interface List<Position, Item, E> extends Items<Item> {
  readonly first: Position
  readonly ask: (position: Position) => Effect.Effect<ListPage<Position, Item>, E>
  /** Equal for the same page. */
  readonly placeOf: (position: Position) => string
  /** The error for a list that no further try would make right. */
  readonly mistake: (detail: string) => E
  /** What to check where the page behind the first is the first one again. */
  readonly firstAgain: string
  /** Whether the page behind the last may be the last one again. Default false. */
  readonly mayRepeatLast?: boolean
  /** Whether the last page may lead to itself, or to the first one. Default false. */
  readonly mayLeadBack?: boolean
}

/** A list that was not the same from its first page to its last: read again from its first page, it may be whole. */
export class ListChanged extends Schema.TaggedError<ListChanged>()("vitrine/ListChanged", {
  list: Schema.String,
  /** What says that something is missing, and what to check. */
  detail: Schema.String
}) {
  override get message() {
    return `${this.list}: ${this.detail}`
  }

  get isTransient(): boolean {
    return true
  }
}

/** More than these are taken for a list without an end. */
export const maxPages = 10_000

/** So many pages in a row that are the same are the last one. */
const maxSame = 4

/** So many pages in a row without items look like a list without an end. */
const maxEmpty = 100

/**
 * The pages of a list. It fails where items are known to be missing or to have come twice (`ListChanged`), with what `ask` fails with, and with
 * `mistake`. In memory are the ids of what was read.
 */
export const readList = <Position, Item, E>(
  list: List<Position, Item, E>
): Stream.Stream<ReadonlyArray<Item>, E | ListChanged> =>
  Stream.suspend(() => {
    const { ask, first, idOf, mayLeadBack = false, mayRepeatLast = false, mistake, placeOf } = list
    const asked = new Set<string>()
    const onlyNew = makeOnlyNew(list)
    const completeness = makeCompleteness(list)
    /** What tells the page before from others. */
    let before: string | undefined
    /** How many pages in a row are the same. */
    let same = 0
    /** The last page that was left out, because it is the one before it again. */
    let leftOut: number | undefined

    return Stream.paginateEffect(
      first,
      Effect.fnUntraced(function* (position: Position) {
        asked.add(placeOf(position))
        const number = asked.size
        const failed = (detail: string) => mistake(`page ${number}: ${detail}`)
        const page = yield* ask(position)
        const { items } = page
        const ids = items.map((item) => Option.getOrUndefined(idOf(item)))
        const content = ids.includes(undefined) ? sha256OfText(JSON.stringify(items)) : JSON.stringify(ids)
        same = content === before ? same + 1 : 1
        before = content
        const leadsBack = Option.exists(page.next, (next) => asked.has(placeOf(next)))
        if (same === number && items.length > 0 && (leadsBack || same === maxSame)) {
          return yield* Effect.fail(failed(list.firstAgain))
        }
        const mayEndSo = mayLeadBack ? [position, first].map(placeOf) : []
        if (leadsBack && !Option.exists(page.next, (next) => mayEndSo.includes(placeOf(next)))) {
          return yield* Effect.fail(failed("the list goes round in a circle: the next page is one before it"))
        }
        if (same === (items.length === 0 ? maxEmpty : maxSame) && !mayRepeatLast) {
          return yield* Effect.fail(failed(`it came ${same} times in a row`))
        }
        const isLastAgain = same > 1 && items.length > 0 && mayRepeatLast
        if (isLastAgain) {
          leftOut = number
        } else if (leftOut !== undefined && items.length > 0) {
          return yield* changed(
            list.name,
            `page ${leftOut} is the page before it again, but page ${number} has other records`
          )
        } else {
          yield* completeness.add(page)
        }
        const added = isLastAgain ? [] : yield* onlyNew(page, ids, number)
        const isEnd = leadsBack || (isLastAgain && (same === maxSame || completeness.isWhole()))
        const next = isEnd ? Option.none() : page.next
        if (Option.isNone(next)) {
          yield* completeness.end
        } else if (number === maxPages) {
          return yield* Effect.fail(
            failed(`there are more than ${maxPages} pages, which looks like a list without an end`)
          )
        }
        return [added, next] as const
      })
    )
  })

/** Makes something of a list, and once more from its beginning where that has changed: what was made before must be thrown away. */
export const readAgain = <A, E, R>(reading: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(
    Effect.tapError(reading, (error) =>
      error instanceof ListChanged
        ? Effect.logDebug(`${error.list} has changed while it was read. It is read again`)
        : Effect.void
    ),
    { times: 1, while: isChanged }
  )

const isChanged = (error: unknown): boolean => error instanceof ListChanged

/** Gives the items that have not come on a page before. */
const makeOnlyNew = <Item>({ advice, mayRepeatItems = false, name }: Items<Item>) => {
  const pageOf = new Map<string, number>()
  return ({ items }: ListPage<unknown, Item>, ids: ReadonlyArray<string | undefined>, number: number) =>
    Effect.suspend(() => {
      const added: Array<Item> = []
      for (const [index, item] of items.entries()) {
        const id = ids[index]
        const before = id === undefined ? undefined : pageOf.get(id)
        if (before !== undefined && before !== number && !mayRepeatItems) {
          return changed(
            name,
            `the record ${excerpt(id ?? "")} is on page ${before} and on page ${number}`,
            advice?.twice
          )
        }
        if (before !== undefined && mayRepeatItems) continue
        if (id !== undefined) pageOf.set(id, number)
        added.push(item)
      }
      return Effect.succeed(added)
    })
}

/** Compares what has come with what the server says there is. */
const makeCompleteness = <Item>({ advice, mayRepeatItems = false, name }: Items<Item>) => {
  let read = 0
  let readPages = 0
  let total: number | undefined
  let pages: number | undefined
  return {
    add: (page: ListPage<unknown, unknown>) =>
      Effect.suspend(() => {
        const before = total
        read += page.items.length
        if (page.items.length > 0) readPages++
        total = page.total ?? total
        pages = page.pages ?? pages
        return before !== undefined &&
          total !== undefined &&
          (total < before || (mayRepeatItems && total !== before))
          ? changed(
              name,
              `the server says first that there are ${before}, and then ${total}`,
              advice?.missing
            )
          : Effect.void
      }),

    /** Whether as much has come as the server says. */
    isWhole: () => (total === undefined ? pages !== undefined && readPages >= pages : read >= total),

    end: Effect.suspend(() =>
      total !== undefined && read < total
        ? changed(name, ends(countText(read, "record"), total), advice?.missing)
        : total === undefined && pages !== undefined && readPages < pages
          ? changed(name, ends(countText(readPages, "page"), pages), advice?.missing)
          : Effect.void
    )
  }
}

const ends = (after: string, all: number) =>
  `the list ends after ${after}, but the server says that there are ${all}`

const changed = (list: string, detail: string, advice?: string) =>
  new ListChanged({ list, detail: advice === undefined ? detail : `${detail}. ${advice}` })
