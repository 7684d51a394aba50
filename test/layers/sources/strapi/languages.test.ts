/**
 * Pages of a type whose entries are added and removed during the read.
 */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { type Ask, readEdition } from "../../../../src/layers/documents/cms.ts"
import { strapi } from "../../../../src/layers/sources/strapi/strapiSource.ts"

const names = [..."abcdefghijklmnop"]

/** The entries that are added or removed before each request, until no change is left. */
const happenings = FastCheck.array(FastCheck.constantFrom(...names, undefined), { maxLength: 12 })

it.effect.prop(
  "a list that changes while it is read has each entry once, and lacks no entry that stayed",
  [FastCheck.subarray(names), happenings, FastCheck.integer({ min: 1, max: 5 })],
  ([start, happenings, pageSize]) =>
    Effect.gen(function* () {
      const entries = new Set(start)
      const steady = start.filter((name) => !happenings.includes(name))
      const due = [...happenings]
      const ask: Ask = (_, parameters) =>
        Effect.sync(() => {
          const happening = due.shift()
          if (happening !== undefined && !entries.delete(happening)) entries.add(happening)
          const page = Number(new Map(parameters).get("pagination[page]"))
          const total = entries.size
          const data = [...entries].sort().slice((page - 1) * pageSize, page * pageSize)
          return {
            data: data.map((documentId) => ({ documentId })),
            meta: { pagination: { page, pageSize, pageCount: Math.ceil(total / pageSize), total } }
          }
        })
      const read = yield* Effect.either(readEdition(strapi, ask, "articles", {}, { status: "published" }))
      if (read._tag === "Left") {
        expect(read.left.isTransient).toBe(true)
        return
      }
      const ids = read.right.items.map(({ documentId }) => documentId)
      expect(new Set(ids).size).toBe(ids.length)
      expect(ids).toEqual(expect.arrayContaining(steady))
    })
)
