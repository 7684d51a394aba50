import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { parseJson } from "../../../src/layers/documents/readText.ts"
import { withWarnings } from "../../../src/layers/documents/warnings.ts"
import { ListChanged, type ListPage, readAgain, readList } from "../../../src/layers/documents/wholeList.ts"

interface Item {
  readonly id: number
}

/** The changes to a list before the response to a request. */
interface Change {
  readonly request: number
  readonly kind: "remove" | "add" | "reverse"
  readonly place: number
}

const server = FastCheck.record({
  length: FastCheck.integer({ min: 0, max: 30 }),
  asked: FastCheck.integer({ min: 1, max: 12 }),
  cap: FastCheck.integer({ min: 1, max: 12 }),
  /** Whether the last page comes again behind the end. */
  repeats: FastCheck.boolean(),
  changes: FastCheck.array(
    FastCheck.record<Change>({
      request: FastCheck.integer({ min: 1, max: 6 }),
      kind: FastCheck.constantFrom("remove", "add", "reverse"),
      place: FastCheck.nat(30)
    }),
    { maxLength: 1 }
  )
})

type Server = typeof server extends FastCheck.Arbitrary<infer A> ? A : never

const read = ({ asked, cap, changes, length, repeats }: Server) =>
  Effect.suspend(() => {
    const items = Array.from({ length }, (_, id): Item => ({ id }))
    let requests = 0
    const change = ({ kind, place }: Change) => {
      const at = place % (items.length + 1)
      if (kind === "remove") items.splice(at, 1)
      else if (kind === "add") items.splice(at, 0, { id: 100 + requests })
      else items.reverse()
    }
    const pages = readList({
      name: "the list",
      first: 0,
      placeOf: String,
      idOf: ({ id }: Item) => Option.some(String(id)),
      mistake: (detail) => new Error(detail),
      firstAgain: "page 1 again",
      mayRepeatLast: true,
      ask: (position: number) =>
        Effect.sync((): ListPage<number, Item> => {
          for (const each of changes) if (each.request === requests) change(each)
          requests++
          const size = Math.min(asked, cap)
          const start = repeats && position >= items.length ? Math.max(0, items.length - size) : position
          const page = items.slice(start, start + size)
          const next = position + page.length
          const isLast = page.length === 0 || next >= items.length
          return { items: page, total: items.length, next: isLast ? Option.none() : Option.some(next) }
        })
    })
    return readAgain(Stream.runCollect(pages)).pipe(
      Effect.map((pages) => Chunk.toReadonlyArray(pages).flat()),
      Effect.either,
      Effect.map((result) => ({ result, items, requests }))
    )
  })

describe("a list of a server", () => {
  it.effect.prop("is complete if nothing changes, with pages of any size", [server], ([given]) =>
    Effect.gen(function* () {
      const { items, result } = yield* read({ ...given, changes: [] })
      expect(Either.getOrThrow(result)).toEqual(items)
    })
  )

  it.effect.prop("is complete or an error if it changes while it is read", [server], ([given]) =>
    Effect.gen(function* () {
      const { items, result } = yield* read(given)
      if (Either.isLeft(result)) {
        expect(result.left).toBeInstanceOf(ListChanged)
        return
      }
      expect(new Set(result.right).size).toBe(result.right.length)
      // The records that existed from the first to the last request.
      const lasting = items.filter(({ id }) => id < 100)
      expect(result.right).toEqual(expect.arrayContaining(lasting))
    })
  )

  it.effect.prop(
    "lacks no page in its middle if the page before comes instead of it, and no total is stated",
    [FastCheck.integer({ min: 1, max: 8 }), FastCheck.integer({ min: 1, max: 16 }), FastCheck.boolean()],
    ([pageCount, glitch, lasts]) =>
      Effect.gen(function* () {
        let requests = 0
        const pages = readList({
          name: "the list",
          first: 1,
          placeOf: String,
          idOf: ({ id }: Item) => Option.some(String(id)),
          mistake: (detail) => new Error(detail),
          firstAgain: "page 1 again",
          mayRepeatLast: true,
          ask: (number: number) =>
            Effect.sync((): ListPage<number, Item> => {
              requests++
              const isStale = lasts ? number === glitch : requests === glitch
              const given = isStale ? Math.max(1, number - 1) : number
              return {
                items: given > pageCount ? [] : [{ id: given }],
                next: number > pageCount ? Option.none() : Option.some(number + 1)
              }
            })
        })
        const result = yield* Effect.either(readAgain(Stream.runCollect(Stream.flattenIterables(pages))))
        if (Either.isLeft(result)) {
          expect(result.left).toBeInstanceOf(ListChanged)
          return
        }
        const ids = Chunk.toReadonlyArray(result.right).map(({ id }) => id)
        expect(ids).toEqual(ids.map((_, index) => index + 1))
      })
  )

  it.effect("reports once how many numbers are texts, even if it is read again", () =>
    Effect.gen(function* () {
      let tries = 0
      const text = "[12345678901234567890,12345678901234567891]"
      const reading = Effect.tap(parseJson(text), () =>
        Effect.when(new ListChanged({ list: "the list", detail: "it changed" }), () => ++tries === 1)
      )
      const [, noticed] = yield* readAgain(withWarnings(reading))
      expect(tries).toBe(2)
      expect(noticed.map(({ text }) => text)).toEqual([
        "2 numbers saved as text, to lose no digit: 12345678901234567890 first"
      ])
    })
  )
})
