import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inBrowser } from "../support/browser.ts"
import { isMissing } from "../support/programs.ts"
import { drawn, idOf, makeShowing, memoryOf } from "../support/stage.ts"
import { eventually } from "../support/waiting.ts"

/** How many versions are promoted in a row: PROMOTIONS=1000 for more. */
const promotions = Number(process.env.PROMOTIONS ?? 200)

describe.skipIf(isMissing("chromium"))("a page", () => {
  layer(inBrowser, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped.each([
      ["one after the other", 1, promotions],
      ["faster than they load", 10, 5 * promotions]
    ] as const)(
      "shows only complete versions, in constant memory, when hundreds come %s",
      ([, awaited, count]) =>
        Effect.gen(function* () {
          const { acks, promote, servers, tab } = yield* makeShowing()
          const memory = yield* memoryOf(tab)
          // Others are given up when the next one comes, or drawn.
          const isDrawn = (number: number) =>
            eventually(Effect.sync(() => number % awaited > 0 || acks.at(-1)?.versionId === idOf(number)))
          const promoteTo = (from: number, to: number) =>
            Effect.forEach(
              Array.from({ length: to - from + 1 }, (_, index) => from + index),
              (number) =>
                promote(number).pipe(Effect.zipRight(servers.announce), Effect.zipRight(isDrawn(number))),
              { discard: true }
            )
          yield* promoteTo(2, count / 2)
          const before = yield* memory
          yield* promoteTo(count / 2 + 1, count)
          // Chromium keeps nodes for some rounds, those of pictures that it still decodes, for example.
          const after = yield* Effect.repeat(memory, {
            until: ({ listeners, nodes }) => listeners <= before.listeners + 5 && nodes <= before.nodes + 20,
            times: 50
          })

          const all = yield* drawn(tab)
          expect(all.length).toBeGreaterThanOrEqual(count / awaited)
          expect(all.filter(([id, number, width]) => id !== idOf(number) || number !== width)).toEqual([])
          const numbers = all.map(([, number]) => number)
          expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
          expect(after.listeners).toBeLessThanOrEqual(before.listeners + 5)
          expect(after.nodes).toBeLessThanOrEqual(before.nodes + 20)
          expect(after.heap).toBeLessThan(before.heap + 500_000)
        })
    )
  })
})
