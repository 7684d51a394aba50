import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { ContentServerState } from "../../src/services/Slices.ts"
import { player, serverSlice } from "../support/fleet.ts"

const decode = Schema.decodeUnknownEither(ContentServerState)

const contentServer = (players: unknown) => serverSlice({ players })

describe("the players of a content server", () => {
  it("are the same each time they are read", () => {
    const players = [player(), player({ node: { id: "hall-4" } })]
    for (const slice of [
      contentServer(players),
      contentServer(players),
      contentServer([...players, player()])
    ]) {
      expect(decode(slice)).toEqual(Either.right(slice))
    }
  })

  it.each([
    ["no array", { length: 1 }],
    ["something else than a player", [player(), { node: { id: "hall-4" } }]],
    ["null", [null]],
    ["text", ["hall-3"]],
    ["a time that is none", [{ ...player(), heardAt: 7 }]]
  ])("are not read where there is %s, even the second time", (_, players) => {
    expect(Either.isLeft(decode(contentServer(players)))).toBe(true)
    expect(Either.isLeft(decode(contentServer(players)))).toBe(true)
  })
})
