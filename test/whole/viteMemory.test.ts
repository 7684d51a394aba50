import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inBrowser } from "../support/browser.ts"
import { isMissing } from "../support/programs.ts"
import { memoryOf } from "../support/stage.ts"
import { savedAgain } from "../support/vite.ts"
import { ofOneConnection, openTemplate, polls, pollsTake, templates } from "../support/viteTemplates.ts"

describe.skipIf(isMissing("chromium"))("a page in the dev server of Vite", () => {
  layer(inBrowser, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped.each(Object.entries(templates))(
      "of %s needs no more memory and connections after forty edits",
      ([name, template]) =>
        Effect.gen(function* () {
          const { edit, servers, shows, tab, wasNeverReloaded } = yield* openTemplate(template)
          const memory = yield* memoryOf(tab)
          const edits = (from: number, to: number) =>
            Effect.forEach(
              Array.from({ length: to - from + 1 }, (_, index) => from + index),
              (number) => Effect.raceFirst(shows(1, number), savedAgain(edit(number))),
              { discard: true }
            )
          yield* edits(1, 10)
          const before = yield* memory
          yield* edits(11, 50)
          yield* servers.clientsBecome(1)
          expect(yield* pollsTake(tab, polls)).toBeGreaterThan(ofOneConnection)
          const after = yield* memory
          expect(after.listeners).toBeLessThan(before.listeners + 20)
          // A browser keeps each module that it has evaluated, and one of Svelte has the five nodes of its template.
          const templateNodes = name === "Svelte" ? 40 * 5 : 0
          expect(after.nodes).toBeLessThan(before.nodes + templateNodes + 20)
          expect(after.heap - before.heap).toBeLessThan(40 * 25_000)
          yield* wasNeverReloaded
        })
    )
  })
})
