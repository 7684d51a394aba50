import { it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { fileName as nameOnDisk } from "../../../src/internal/FileName.ts"
import { fileName } from "../../../src/layers/client/Version.ts"

it("a table has the file name that the controller gives it", () => {
  const character = FastCheck.oneof(
    FastCheck.constantFrom(...'<>:"/\\|?*%. \u0000\u0007\u007f\u0085aBé漢'),
    FastCheck.string({ maxLength: 1, unit: "grapheme" })
  )
  const names = FastCheck.array(character, { minLength: 1, maxLength: 20 })
    .map((parts) => parts.join(""))
    .filter((name) => name !== "")
  FastCheck.assert(FastCheck.property(names, (name) => fileName(name) === nameOnDisk(name)))
})
