/**
 * The worlds of the rules: content without a mistake is saved by every reader, without a warning.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { png } from "./bytes.ts"
import { museumOf, quiet } from "./harness.ts"
import { linked, readerNames, type World } from "./readers.ts"

const world: World = {
  documents: {
    objects: [
      { id: "bell", title: "Bell", year: 1642, picture: linked("pictures/bell.png") },
      { id: "loom", title: "Loom", year: 1790, picture: linked("pictures/loom.png") }
    ],
    rooms: [{ id: "hall", name: "Hall" }]
  },
  files: { "pictures/bell.png": png, "pictures/loom.png": Buffer.concat([png, Buffer.from("more")]) }
}

describe("content without a mistake", () => {
  for (const reader of readerNames) {
    it.scoped(`is saved from ${reader}, without a warning`, () =>
      Effect.gen(function* () {
        const museum = yield* museumOf(reader).open(world)
        const outcome = yield* museum.fetch
        quiet(outcome)
        const [bell, loom] = outcome.records("objects")
        expect([bell?.id, bell?.title, bell?.year, loom?.id]).toEqual(["bell", "Bell", 1642, "loom"])
        expect(outcome.file(bell?.picture)).toEqual(png)
        expect(outcome.records("rooms").map(({ id, name }) => [id, name])).toEqual([["hall", "Hall"]])
      })
    )
  }
})
