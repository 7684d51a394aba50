/**
 * The table of rules and readers: what a museum can rely on, whatever its content comes from.
 */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { files } from "./files.ts"
import { museumOf, objectionTo, reasons } from "./harness.ts"
import { lists } from "./lists.ts"
import { names } from "./names.ts"
import { notYet } from "./notYet.ts"
import { polls } from "./polls.ts"
import { texts } from "./texts.ts"
import { versions } from "./versions.ts"

const rules = [...files, ...names, ...lists, ...texts, ...polls, ...versions].sort(
  (one, other) => one.number - other.number
)

for (const { cells, number, sentence, test } of rules) {
  describe(`rule ${number}: ${sentence}`, () => {
    for (const [reader, cell] of cells) {
      if (cell === "●" && test === undefined) {
        it.todo(`is to be tried with ${reader}`)
      } else if (cell === "●" && test !== undefined) {
        const isMissing = notYet[number]?.includes(reader) ?? false
        it.scoped(isMissing ? `does not hold yet for ${reader}` : `holds for ${reader}`, () =>
          Effect.flatMap(objectionTo(test(museumOf(reader))), (objection) =>
            isMissing === (objection !== undefined)
              ? Effect.void
              : Effect.fail(new Error(objection ?? `It holds for ${reader}: remove it from notYet.ts.`))
          )
        )
      } else if (cell !== "●") {
        it.skip(`does not apply to ${reader}: ${reasons[cell]}`, () => {})
      }
    }
  })
}
