/**
 * The table of rules and readers: what a museum can rely on, whatever its content comes from.
 */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { files } from "./files.ts"
import { museumOf, objectionTo, reasons } from "./harness.ts"
import { names } from "./names.ts"
import { notYet } from "./notYet.ts"

const rules = [...files, ...names]

for (const { cells, number, sentence, test } of rules) {
  describe(`rule ${number}: ${sentence}`, () => {
    for (const [reader, cell] of cells) {
      if (cell === "●") {
        const isMissing = notYet[number]?.includes(reader) ?? false
        it.scoped(isMissing ? `does not hold yet for ${reader}` : `holds for ${reader}`, () =>
          Effect.flatMap(objectionTo(test(museumOf(reader))), (objection) =>
            isMissing === (objection !== undefined)
              ? Effect.void
              : Effect.fail(new Error(objection ?? `It holds for ${reader}: remove it from notYet.ts.`))
          )
        )
      } else {
        it.skip(`does not apply to ${reader}: ${reasons[cell]}`, () => {})
      }
    }
  })
}
