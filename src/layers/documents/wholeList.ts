/**
 * Lists that come in pages: complete, or an error.
 *
 * It owns the mistakes between pages: items that come twice or not at all, pages that come again, lists without an
 * end. The source decides what to request and what a response means.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { sha256OfText } from "../../files/sha256.ts"
import { excerpt } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"
import { withinBudget } from "./budget.ts"

/** A page of a list. */
export interface ListPage<Position, Item> {
  readonly items: ReadonlyArray<Item>
  /** The position of the next page; `None` after the last page. */
  readonly next: Option.Option<Position>
  /** How many items the server says are on all pages. */
  readonly total?: number | undefined
  /** How many pages the server says there are. */
  readonly pages?: number | undefined
}

/** The progress before a page is requested. */
export interface ListProgress {
  /** The number of the page, from 1. */
  readonly number: number
  /** The number of items on all pages before it. */
  readonly read: number
  /** The number of items on the first page; 0 before it has come. */
  readonly firstItems: number
}

/** The progress through the pages of a list, after a page. */
export interface PageRead extends Pick<ListPage<unknown, unknown>, "pages" | "total"> {
  /** The number of the page, from 1. */
  readonly number: number
  /** The number of records on this page. */
  readonly records: number
  /** The number of records on the first page. */
  readonly firstRecords: number
  /** The number of records so far, this page included. */
  readonly read: number
}

/**
 * Whether the page is not full. A full page is as long as page 1; page 1 is compared with `size`. A server that
 * limits its pages sends the same number of records on each page.
 */
export const isShort = ({ firstRecords, number, records }: Omit<PageRead, "read">, size = 0): boolean =>
  records < (number > 1 ? firstRecords : size)

/** Whether everything has arrived, according to the server. */
export const hasAll = ({
  number,
  pages,
  read,
  total
}: Omit<PageRead, "firstRecords" | "records">): boolean =>
  total === undefined ? pages !== undefined && number >= pages : read >= total

/**
 * Whether no page follows. A full page is never the last one, because some servers state a total that is too small,
 * such as the number on one page.
 */
export const isLast = (page: PageRead, size?: number): boolean =>
  page.records === 0 || (hasAll(page) && isShort(page, size))

/** The properties of the items of a list. */
interface Items<Item> {
  /** The name of the list in messages, as in `Document "events"`. */
  readonly name: string
  /** Equal for the same item on any page; `None` if items cannot be distinguished. */
  readonly idOf: (item: Item) => Option.Option<string>
  /** What to check if items are missing, or come twice. Default nothing. */
  readonly advice?: { readonly missing?: string; readonly twice?: string }
  /** Whether the server may count and send an item more than once. Then it is read once. Default false. */
  readonly mayRepeatItems?: boolean
}

export interface List<Position, Item, E> extends Items<Item> {
  readonly first: Position
  readonly ask: (position: Position, progress: ListProgress) => Effect.Effect<ListPage<Position, Item>, E>
  /** Equal for the same page. */
  readonly placeOf: (position: Position) => string
  /** The error for a list that no retry would correct. */
  readonly mistake: (detail: string) => E
  /** What to check if page 2 is the same as page 1. */
  readonly firstAgain: string
  /** Whether the page after the last may be the last page again. Default false. */
  readonly mayRepeatLast?: boolean
  /** Whether the last page may lead to itself, or to the first page. Default false. */
  readonly mayLeadBack?: boolean
}

/** A list that changed between its first page and its last. Read again from its first page, it may be complete. */
export class ListChanged extends Schema.TaggedError<ListChanged>()("vitrine/ListChanged", {
  list: Schema.String,
  /** The sign that something is missing, and what to check. */
  detail: Schema.String,
  /** How often it is read again. */
  times: Schema.optionalWith(Schema.Number, { default: () => 1 })
}) {
  override get message() {
    return `${this.list}: ${this.detail}`
  }

  get isTransient(): boolean {
    return true
  }
}

/** More pages count as a list without an end. */
export const maxPages = 10_000

/** After this many equal pages in a row, the list has ended. */
const maxSame = 4

/** After this many pages in a row without items, the list counts as endless. */
const maxEmpty = 100

/**
 * The pages of a list. Throws `Refused`, and fails with `ListChanged` if items are known to be missing or to have come twice, with the
 * error of `ask`, and with `mistake`. The ids of all read items are held in memory.
 */
export const readList = <Position, Item, E>(
  list: List<Position, Item, E>
): Stream.Stream<ReadonlyArray<Item>, E | ListChanged> =>
  Stream.suspend(() => {
    const { ask, first, idOf, mayLeadBack = false, mayRepeatLast = false, mistake, placeOf } = list
    const asked = new Set<string>()
    const onlyNew = makeOnlyNew(list)
    const completeness = makeCompleteness(list)
    let read = 0
    let firstItems = 0
    /** The content of the page before. */
    let before: string | undefined
    /** How many pages in a row are the same. */
    let same = 0
    /** The number of the last page that was left out because it repeats the page before. */
    let leftOut: number | undefined

    return Stream.paginateEffect(
      first,
      Effect.fnUntraced(function* (position: Position) {
        asked.add(placeOf(position))
        const number = asked.size
        const failed = (detail: string) => mistake(`page ${number}: ${detail}`)
        const page = yield* ask(position, { number, read, firstItems })
        const { items } = page
        read += items.length
        withinBudget("records", read)
        if (number === 1) firstItems = items.length
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
          return yield* Effect.fail(failed("the pages form a circle: the next page is an earlier page"))
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

/**
 * Runs the effect, and retries it from its beginning if the list has changed. The results before must be thrown away.
 */
export const readAgain = <A, E, R>(read: Effect.Effect<A, E, R>, before = 0): Effect.Effect<A, E, R> =>
  Effect.catchAll(read, (error) =>
    error instanceof ListChanged && before < error.times
      ? Effect.zipRight(
          (error.times > 1 ? Effect.logWarning : Effect.logDebug)(
            `${error.list} changed while it was read, and is read again from its beginning`
          ),
          readAgain(read, before + 1)
        )
      : Effect.fail(error)
  )

/** Returns the items that were on no page before. */
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

/** Compares the received items with the server's total. */
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

    /** Whether all items of the server's total have arrived. */
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
